import { megabytes, milliseconds, short, table, whole } from '../harness/format.js'
import { measuredOn, sqliteVersion } from '../harness/machine.js'
import { type DurableSetup, storeTitles, withDurableStore } from '../harness/open-store.js'
import { type Size, SIZES } from '../harness/options.js'
import type { Section } from '../harness/results.js'
import { Worker } from '../harness/workers.js'
import type { Filled, Job, Queried } from '../targets/names-process.js'

/*
 * A log in which each event has a name of its own, compared with one in which all events have the same
 * names. A new process runs the queries.
 */

type Measured = Filled & Queried

async function measureLog(
  setup: DurableSetup,
  events: number,
  isDistinct: boolean,
): Promise<Measured> {
  const filler = await Worker.start<Job, Filled>('names-process.ts', setup)
  const filled = await filler.ask({ fill: events, isDistinct })
  await filler.end()
  const reader = await Worker.start<Job, Queried>('names-process.ts', setup)
  const queried = await reader.ask({ query: events, isDistinct })
  await reader.end()
  return { ...filled, ...queried }
}

const HEADS = [
  'log',
  'recorded and indexed',
  'on disk',
  'memory of a reader',
  'by a common name',
  "by an event's own name",
  'by a missing name',
  'sorted',
]

const rowOf = (title: string, measured: Measured): readonly string[] => [
  title,
  `${short(measured.seconds)} s`,
  megabytes(measured.diskBytes),
  megabytes(measured.rssBytes),
  ...[measured.common, measured.own, measured.missing, measured.sorted].map(milliseconds),
]

export async function measure({ size }: { readonly size: Size }): Promise<Section[]> {
  const events = SIZES[size]
  const rows: (readonly string[])[] = []
  for (const store of ['sqlite', 'postgres'] as const)
    for (const isDistinct of [false, true])
      await withDurableStore(store, async (setup) => {
        const names = isDistinct ? `${whole(events)} names` : 'the same names'
        rows.push(
          rowOf(`${storeTitles[store]}, ${names}`, await measureLog(setup, events, isDistinct)),
        )
      })
  const text = [
    `${measuredOn(sqliteVersion(), 'Postgres')} Logs of ${whole(events)} events, each with a common attribute and`,
    'another one, whose name is the same for all events or different for each. Medians of 50 queries in a new process.',
    '',
    ...table(HEADS, rows),
  ].join('\n')
  return [{ name: 'names', text }]
}
