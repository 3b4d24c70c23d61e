"""Measurements. Ratios are taken side by side in one run, so that they mean something on any machine."""
