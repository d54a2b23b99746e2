import {
  megabytes,
  milliseconds,
  type Print,
  ratios,
  short,
  table,
  times,
  whole,
  withSpread,
} from '../harness/format.js'
import { measuredOn, sqliteVersion } from '../harness/machine.js'
import { type DurableSetup, storeTitles, withDurableStore } from '../harness/open-store.js'
import { UsageError } from '../harness/options.js'
import type { Section } from '../harness/results.js'
import { Worker } from '../harness/workers.js'
import type { Answer, Latencies, Setup } from '../targets/cleaning-process.js'

/*
 * How cleaning affects concurrent `record` calls. Several runs remove half of the events by age while the
 * same process records 500 events per second. Each round has a phase without cleaning and one with it,
 * which lasts as long as the run. At the end exactly the expired events must be gone.
 */

type StoreName = DurableSetup['store']

const STORES = {
  sqlite: ['sqlite'],
  postgres: ['postgres'],
  both: ['sqlite', 'postgres'],
} as const satisfies Readonly<Record<string, readonly StoreName[]>>

interface Options extends Omit<Setup, 'place'> {
  readonly store: keyof typeof STORES
}

const runTrial = (store: StoreName, options: Omit<Setup, 'place'>): Promise<Answer> =>
  withDurableStore(store, async (place) => {
    console.error(`${storeTitles[store]}: filling`)
    const setup: Setup = { ...options, place }
    const worker = await Worker.start<'run', Answer>('cleaning-process.ts', setup)
    console.error(`${storeTitles[store]}: cleaning`)
    const answer = await worker.ask('run')
    await worker.end()
    return answer
  })

const LATENCIES: readonly (keyof Latencies)[] = ['p50', 'p99', 'max']

function rowsOf({ rounds, bytesBefore, bytesAfter }: Answer): string[][] {
  const latencies = LATENCIES.flatMap((figure) => {
    const without = rounds.map((round) => round.without[figure])
    const during = rounds.map((round) => round.cleaning[figure])
    const title = (phase: string): string => `\`record()\` ${figure}, ${phase}`
    return [
      [title('without cleaning'), withSpread(without, milliseconds)],
      [title('during cleaning'), withSpread(during, milliseconds)],
      [title('ratio'), withSpread(ratios(during, without), times)],
    ]
  })
  const durations = rounds.map((round) => round.seconds)
  const rates = rounds.map((round) => round.removed / round.seconds)
  const seconds: Print = (value) => `${short(value)} s`
  return [
    ...latencies,
    ['duration of a run', withSpread(durations, seconds)],
    ['events removed per second', withSpread(rates, whole)],
    ['size before, after', [bytesBefore, bytesAfter].map(megabytes).join(', ')],
  ]
}

export async function measure({ store, ...options }: Options): Promise<Section[]> {
  const { events, rounds, seconds } = options
  if (!Number.isInteger(events / 2 / rounds))
    throw new UsageError('--events must be a multiple of twice the rounds')
  const sections: Section[] = []
  for (const name of STORES[store]) {
    const answer = await runTrial(name, options)
    const text = [
      `${measuredOn(name === 'sqlite' ? sqliteVersion() : 'Postgres')} ${rounds} runs remove ${whole(events / 2)} of ${whole(events)} events of about`,
      '640 bytes by `maxAge` while the same process records 500 events/s. A call is measured from the moment it was due.',
      `Medians [min–max] of the rounds, each with a phase without cleaning of ${seconds} s and one with it. Exactly the expired`,
      'events were removed.',
      '',
      ...table(['', storeTitles[name]], rowsOf(answer)),
    ].join('\n')
    sections.push({ name: `cleaning-${name}`, text })
  }
  return sections
}
