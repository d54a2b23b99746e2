import { postgresStore } from 'daybook/postgres'
import { manualClock } from 'daybook/testing'
import { openWorld } from '../shared/cleaning-world.js'
import { partitionRule } from './archived-partitions.js'

/* Archives the due events of a log with partitions, or is killed before: `<URL> <schema> <directory> <time>`. */
const [connectionString = '', schema = '', directory = '', time = ''] = process.argv.slice(2)

const store = postgresStore({
  connectionString,
  schema,
  partitions: 'day',
  clock: manualClock(time),
})
const world = openWorld(store, { rules: [partitionRule(directory)] })
const [result] = await world.cleaning.run()
if (result?.error !== undefined) throw new Error(result.error)
await world.close()
