"""Science programs as environments: one folder per program, none of which imports another."""
