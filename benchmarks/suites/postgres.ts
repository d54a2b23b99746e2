/*
 * How fast `record` is on Postgres, and what the order of events costs there:
 *
 *   npm run build
 *   npm install --prefix benchmarks/peers
 *   npx tsx --tsconfig benchmarks/tsconfig.json benchmarks/postgres.ts \
 *     [--part order|ingest|both] [--rounds 4] [--seconds 1] [--write]
 *
 * That tsconfig has `daybook` lead to the built package, as users get it. The server is one of our own,
 * as durable as Postgres is by default, with its data in the system's folder for temporary files
 * (TMPDIR), which should be on a disk. Every subject has processes to itself; trials begin with an empty table
 * and take turns, so that each ratio is taken within one round, and each ends with a look whether all
 * acknowledged events are there. `--write` puts the result into results.md.
 */
import { parseArgs } from 'node:util'
import { startCrew } from '../targets/worker-pool.js'
import { ingestTables } from './postgres-record.js'
import { orderTable } from './postgres-order.js'
import { peerVersion } from '../harness/peers.js'
import { measuredCode, processor, writeSection } from '../harness/format.js'

const PARTS = { order: [orderTable], ingest: [ingestTables], both: [orderTable, ingestTables] }

async function report(part: keyof typeof PARTS, rounds: number, seconds: number): Promise<string> {
  const code = measuredCode()
  const crew = await startCrew()
  const { rows } = await crew.client.query<{ server_version: string }>('SHOW server_version')
  const tables: string[] = []
  for (const measure of PARTS[part]) tables.push('', ...(await measure(crew, rounds, seconds)))
  await crew.end()
  const peers = ['@event-driven-io/emmett-postgresql', 'pg-boss'].map(
    (name) => `${name} ${peerVersion(name)}`,
  )
  const date = new Date().toISOString().slice(0, 10)
  return [
    `Measured ${date} on ${processor()}, Postgres ${rows[0]!.server_version}, ${peers.join(', ')}: ${code},`,
    'server and writers on the same machine, `fsync`, `full_page_writes` and `synchronous_commit` on, events of',
    `about 640 bytes. Median [least–greatest] of ${rounds} rounds of ${seconds} s; ratios are taken within each round.`,
    ...tables,
  ].join('\n')
}

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: 'both' },
    rounds: { type: 'string', default: '4' },
    seconds: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
})
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
if (!Number.isInteger(rounds) || rounds < 1 || !(seconds > 0) || !Object.hasOwn(PARTS, values.part))
  throw new Error(
    '--rounds must be a whole number from 1, --seconds a number above 0, --part order, ingest or both',
  )
const text = await report(values.part as keyof typeof PARTS, rounds, seconds)
console.log(text)
if (values.write) writeSection('postgres', text)
