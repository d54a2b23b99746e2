import { sqliteStore } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import { KILLED_RULE } from './killed-rule.js'
import { openWorld } from '../stores/shared/cleaning-world.js'

/*
 * A process that cleans: `<SQLite file> <archive directory> <time> [killed]`. Prints a line for each
 * page, and one at the end. With `killed` it kills itself soon after the first page.
 */
const [filename = '', archive = '', time = '', end = ''] = process.argv.slice(2)
const say = (line: string): void => void process.stdout.write(`${line}\n`)

const { cleaning, close } = openWorld(sqliteStore({ filename, clock: manualClock(time) }), {
  rules: [{ ...KILLED_RULE, archive }],
})
const [result] = await cleaning.run({
  onProgress({ removed_count }) {
    say(`removed ${removed_count}`)
    if (end === 'killed') setTimeout(() => process.kill(process.pid, 'SIGKILL'), Math.random() * 10)
  },
})
say(`done ${JSON.stringify(result)}`)
await close()
