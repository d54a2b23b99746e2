/** The reason and the remedy, in errors of stores whose database no longer has the tables of the log. */
export const LOST_TABLES =
  'tables of the log are gone. Another program, such as drizzle-kit push or prisma db push, may have dropped them: ' +
  'restore a backup, or restart the service, which creates an empty log, and keep that program from the tables of the log'
