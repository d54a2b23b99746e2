/*
 * How fast `record` is while the index is kept up, over minutes, beside raw rows of JSON text, and how
 * large the file is then:
 *
 *   npm run build
 *   npx tsx --tsconfig benchmarks/tsconfig.json benchmarks/sustained.ts [--size 1m] [--keep folder]
 *
 * In stretches of 100,000 events, which take turns with the same events as raw rows in batches of 100. A
 * stretch is over when the index has caught up. No event is made while anything is measured.
 */
import fs from 'node:fs'
import { aimFor, type Aim, ratios, type Row, rowOf, tell } from '../harness/results.js'
import { type Log, logOf, type Rates, withLogs } from '../targets/sqlite-log.js'
import { readSized } from '../harness/options.js'
import { median, percent, type Print, times, whole } from '../harness/format.js'

const MILLION = 1e6

const perSecond: Print = (value) => `${whole(value)}/s`
const megabytes: Print = (value) => `${whole(value / 1e6)} MB`

const rateOf = ({ events, record, waited }: Rates): number => events / (record + waited)

/** Rates of the stretches around a number of events. */
function around(log: Log, events: number): number[] {
  let done = 0
  return log.stretches.flatMap((stretch) => {
    done += stretch.events
    return Math.abs(done - stretch.events / 2 - events) <= MILLION / 2 ? [rateOf(stretch)] : []
  })
}

function growth(group: string, log: Log): Row[] {
  if (log.events < 8.5 * MILLION) return []
  const [early, late] = [around(log, MILLION), around(log, 8 * MILLION)]
  const share = late.map((rate) => rate / median(early))
  return [
    rowOf({
      group,
      name: 'the same at 8 million events, beside the rate at 1 million',
      daybook: late,
      reference: { name: 'at 1 million', figures: early },
      ratio: share,
      print: perSecond,
      aims: [aimFor('atLeast', 0.85, share)],
    }),
  ]
}

function rowsOf(log: Log): Row[] {
  const group = `Recording while the index is kept up, SQLite, ${whole(log.events)} events`
  const ours = log.stretches.map(rateOf)
  const raw = log.stretches.map(({ events, raw }) => events / raw)
  const share = ratios(ours, raw)
  const size = fs.statSync(log.daybook).size
  const isLarge = log.events >= MILLION
  const aims = (...all: Aim[]): Aim[] => (isLarge ? all : [])
  const waiting = median(log.stretches.map(({ record, waited }) => waited / (record + waited)))
  return [
    rowOf({
      group,
      name: '`record()`, 1,000 calls in flight, until all is indexed',
      daybook: ours,
      reference: { name: 'raw rows, batches of 100', figures: raw },
      ratio: share,
      print: perSecond,
      note: `${percent(waiting)} of it waiting for the index; made ${log.made}`,
      aims: aims(aimFor('atLeast', 0.35, share)),
    }),
    ...growth(group, log),
    rowOf({
      group,
      name: 'bytes on disk, beside the JSON text of the attributes',
      daybook: [size],
      reference: { figures: [log.jsonBytes] },
      ratio: [size / log.jsonBytes],
      print: megabytes,
      aims: aims(aimFor('atMost', 1.8, [size / log.jsonBytes], times)),
    }),
  ]
}

const { size, keep, rows } = readSized({ rounds: 1 })
await withLogs(keep, async (folder) => tell(rowsOf(await logOf(size, folder)), rows))
