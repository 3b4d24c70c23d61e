"""Every sentence that people read, made from facts, reasons and State.

Pure: no colours, no terminal, no files.
"""
