"""Every sentence that people read, made from facts and State. Pure: no colours, no terminal, no files."""
