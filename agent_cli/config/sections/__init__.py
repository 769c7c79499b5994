"""The sections of the settings, by what they are about."""
