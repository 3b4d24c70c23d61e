"""The log of facts, the claims and the snapshot, on SQLite or Postgres. The only place that speaks SQL."""
