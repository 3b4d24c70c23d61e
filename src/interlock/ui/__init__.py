"""What people and programs see. It reads State, adds facts, and decides nothing."""
