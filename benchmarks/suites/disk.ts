import { short, table, times, whole } from '../harness/format.js'
import { measuredOn, sqliteVersion } from '../harness/machine.js'
import { type DurableSetup, withDurableStore } from '../harness/open-store.js'
import { SIZES } from '../harness/options.js'
import type { Section } from '../harness/results.js'
import type { Chunk } from '../targets/log-process.js'
import { measurePostgres } from '../targets/postgres-disk.js'
import { closeWriter, startWriter } from '../targets/sqlite-log.js'
import { type Part, sqliteParts } from '../targets/sqlite-disk.js'

/*
 * What a log takes on disk, by part, compared with the JSON text of its attributes. The index has caught up with
 * all events but the last ones, which are fewer than a segment has.
 */

const EVENTS = {
  '10k': [SIZES['10k']],
  '100k': [SIZES['100k']],
  '1m': [SIZES['1m']],
  both: [SIZES['100k'], SIZES['1m']],
} as const

const MAX_CHUNK = 50_000

const LOGS = [
  { title: 'SQLite', name: 'sqlite', compression: 'none' },
  { title: "SQLite, `compression: 'deflate'`", name: 'sqlite', compression: 'deflate' },
  { title: 'Postgres', name: 'postgres', compression: 'none' },
] as const

interface Options {
  readonly size: keyof typeof EVENTS
  readonly store: DurableSetup['store'] | 'both'
  /** A file of JSON objects, one per line; empty for sample events. */
  readonly records: string
}

interface Log {
  readonly events: number
  /** Size of the attributes as JSON text. */
  readonly jsonBytes: number
}

interface Measured extends Log {
  readonly parts: readonly Part[]
  readonly trials: readonly Part[]
}

/** Records the events and waits for the index. A file of records may have fewer of them. */
async function fill(store: DurableSetup, events: number, records: string): Promise<Log> {
  const writer = await startWriter({ kind: 'record', store, records })
  let done = 0
  let jsonBytes = 0
  while (done < events) {
    const job = { events: Math.min(MAX_CHUNK, events - done), sampleInterval: events }
    const chunk: Chunk = await writer.ask(job)
    if (chunk.times.length === 0) break
    done += chunk.times.length
    jsonBytes += chunk.jsonBytes
    console.error(`${store.store}: ${whole(done)} of ${whole(events)}`)
  }
  await closeWriter(writer)
  return { events: done, jsonBytes }
}

async function measureLog(setup: DurableSetup, log: Log): Promise<Measured> {
  if (setup.store === 'sqlite') return { ...log, parts: sqliteParts(setup.filename), trials: [] }
  const { parts, compression, trials } = await measurePostgres(setup.url)
  const note: Part = [`(\`default_toast_compression\` is ${compression})`, NaN]
  return { ...log, parts, trials: [note, ...trials] }
}

/** One row for each part, with its bytes per event in each log, and their ratio to the JSON text. */
function tableOf(title: string, logs: readonly Measured[]): string[] {
  const cells = (sizes: readonly number[]): string[] =>
    sizes.flatMap((size, i) => {
      const { events, jsonBytes } = logs[i]!
      return Number.isNaN(size) ? ['', ''] : [short(size / events), times(size / jsonBytes)]
    })
  const rowsOf = (of: 'parts' | 'trials'): string[][] =>
    logs[0]![of].map(([name], at) => [name, ...cells(logs.map((log) => log[of][at]![1]))])
  const totals = logs.map(({ parts }) => parts.reduce((sum, [, size]) => sum + size, 0))
  const heads = logs.flatMap(({ events }) => [`${whole(events)} events, bytes per event`, 'ratio'])
  return table(
    [title, ...heads],
    [
      ['JSON text of the attributes', ...cells(logs.map(({ jsonBytes }) => jsonBytes))],
      ['**the log**', ...cells(totals)],
      ...rowsOf('parts'),
      ...rowsOf('trials'),
    ],
  )
}

export async function measure({ size, store, records }: Options): Promise<Section[]> {
  const tables: string[] = []
  for (const { title, name, compression } of LOGS) {
    if (store !== 'both' && name !== store) continue
    const logs: Measured[] = []
    for (const events of records === '' ? EVENTS[size] : [Infinity])
      logs.push(
        await withDurableStore(name, async (given) => {
          const setup = given.store === 'sqlite' ? { ...given, compression } : given
          return measureLog(setup, await fill(setup, events, records))
        }),
      )
    tables.push('', ...tableOf(title, logs))
  }
  const what = records === '' ? 'Sample events' : `The records of a file, one event each`
  const text = [
    `${measuredOn(sqliteVersion(), 'Postgres')} ${what}. The ratio is to the JSON text of`,
    'the attributes. The index has all events but the last ones, which are fewer than a segment has.',
    ...tables,
  ].join('\n')
  return [{ name: 'disk', text }]
}
