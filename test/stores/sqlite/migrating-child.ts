import { openDatabase } from '../../../adapters/sqlite/connection/database.js'
import { migrate } from '../../../adapters/sqlite/schema/migrate.js'

/* Migrates a file: `<file> <schema as JSON>`. Prints a line before it starts. */
const [filename = '', schema = ''] = process.argv.slice(2)
openDatabase(filename, (database) => {
  console.log('opened')
  migrate(database, JSON.parse(schema) as Parameters<typeof migrate>[1])
}).close()
