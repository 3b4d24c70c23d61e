"""What a hostile agent tries from inside its workspace. Run as the agent; needs nothing but Python.

Every attack is harmless where it succeeds: it reads a decoy, or undoes at once what it did. Each returns
whether it got what it wanted. `targets.json` beside it says where the decoys are; the outcome is printed.
"""
