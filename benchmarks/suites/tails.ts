import {
  milliseconds,
  percent,
  perSecond,
  type Print,
  ratios,
  table,
  times,
  whole,
  withSpread,
} from '../harness/format.js'
import { measuredOn, sqliteVersion } from '../harness/machine.js'
import { type DurableSetup, withDurableStore } from '../harness/open-store.js'
import type { TimedOptions } from '../harness/options.js'
import type { Section } from '../harness/results.js'
import { runRounds } from '../harness/rounds.js'
import { Worker } from '../harness/workers.js'
import type { Answer, Job, TailKind } from '../targets/tails-process.js'

/*
 * What tails cost the process that records. Each trial is a process of its own on the same log. Tails that start at
 * the present must deliver every event that matches.
 */

type StoreName = DurableSetup['store']

const STORES = {
  sqlite: ['sqlite'],
  postgres: ['postgres'],
  both: ['sqlite', 'postgres'],
} as const satisfies Readonly<Record<string, readonly StoreName[]>>

interface Options extends TimedOptions {
  readonly store: keyof typeof STORES
}

const PER_SECOND = 500
const FILLED = 20_000

const TITLES: Readonly<Record<TailKind, string>> = {
  none: 'no tail',
  selective: '1,000 tails, 15 filters',
  different: '1,000 tails, 1,000 filters',
  all: '100 tails without a filter',
  behind: `100 tails that start ${whole(FILLED)} events back`,
}

const KINDS = Object.keys(TITLES) as TailKind[]

interface Figure {
  readonly title: string
  /** Only tails that start at the present have this figure. */
  readonly isOfPresent?: true
  readonly print: Print
  readonly of: (answer: Answer) => number
}

const FIGURES: readonly Figure[] = [
  { title: '`record()` per second', print: whole, of: (answer) => answer.perSecond },
  { title: '`record()` p50', print: milliseconds, of: ({ p50 }) => p50 },
  { title: '`record()` p99', print: milliseconds, of: ({ p99 }) => p99 },
  { title: '`record()` max', print: milliseconds, of: (answer) => answer.max },
  { title: 'processor time, of one core', print: percent, of: ({ cpu }) => cpu },
  { title: 'events delivered meanwhile', print: whole, of: ({ delivered }) => delivered },
  {
    title: 'from `created_at` to a tail, p50',
    isOfPresent: true,
    print: milliseconds,
    of: ({ lagP50 }) => lagP50,
  },
  { title: 'p99', isOfPresent: true, print: milliseconds, of: ({ lagP99 }) => lagP99 },
  { title: 'events not delivered', isOfPresent: true, print: whole, of: ({ missed }) => missed },
]

async function runJob<Result>(place: DurableSetup, job: Job): Promise<Result> {
  const worker = await Worker.start<Job, Result>('tails-process.ts', place)
  const result = await worker.ask(job)
  await worker.end()
  return result
}

const describe = ({ perSecond: rate, p99, cpu, missed }: Answer): string =>
  `${perSecond(rate)}, p99 ${milliseconds(p99)}, ${percent(cpu)}, ${missed} missed`

async function measureStore(store: StoreName, { rounds, seconds }: TimedOptions): Promise<Section> {
  const answers = await withDurableStore(store, async (place) => {
    await runJob<'filled'>(place, { fill: FILLED })
    const measured = await runRounds<StoreName, TailKind, Answer>({
      cases: [store],
      sides: KINDS,
      rounds,
      measure: (_, kind) => runJob<Answer>(place, { kind, perSecond: PER_SECOND, seconds }),
      describe: (_, all) =>
        KINDS.map((kind) => `${store}, ${TITLES[kind]}: ${describe(all[kind])}`).join('\n'),
    })
    return measured.get(store)!
  })
  const rows = FIGURES.map(({ title, isOfPresent, print, of }) => [
    title,
    ...KINDS.map((kind) =>
      isOfPresent && (kind === 'none' || kind === 'behind')
        ? ''
        : withSpread(answers[kind].map(of), print),
    ),
  ])
  const p99 = (kind: TailKind): number[] => answers[kind].map((answer) => answer.p99)
  const text = [
    `${measuredOn(store === 'sqlite' ? sqliteVersion() : 'Postgres')} One process records ${PER_SECOND} sample events per second for ${seconds} s and`,
    'follows the log with tails. A call is measured from the moment it was due. The processor time is that of this process, recording',
    `included. Medians [min–max] of ${rounds} rounds.`,
    '',
    ...table(
      ['', ...KINDS.map((kind) => TITLES[kind])],
      [
        ...rows,
        [
          'p99 of `record()`, compared with no tail',
          ...KINDS.map((kind) => withSpread(ratios(p99(kind), p99('none')), times)),
        ],
      ],
    ),
  ].join('\n')
  return { name: `tails-${store}`, text }
}

export async function measure({ store, ...options }: Options): Promise<Section[]> {
  const sections: Section[] = []
  for (const name of STORES[store]) sections.push(await measureStore(name, options))
  return sections
}
