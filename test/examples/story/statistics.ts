import Database from 'better-sqlite3'
import type { Story } from './world.js'

/** Another program's table in the file of the log has an order that only that program knows. */
export const statistics: Story = async ({ post, saw, temp }) => {
  const rules = ['statistics']
  await post('/api/cleaning_runs', 'cleaning_run', { rules })
  await saw('info:data_cleanup:statistics')
  const database = new Database(temp.file('daybook.db'))
  try {
    database.unsafeMode()
    database.exec(`
      CREATE TABLE reports (name TEXT);
      CREATE INDEX reports_name ON reports (name);
      INSERT INTO reports VALUES ('one'), ('two');
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, '(name)', '(name COLLATE regional)')
        WHERE name = 'reports_name';
      PRAGMA writable_schema = RESET`)
    await post('/api/cleaning_runs', 'cleaning_run', { rules })
    await saw('error:data_cleanup:statistics')
  } finally {
    database.close()
  }
}
