import { megabytes, milliseconds, type Print, short, whole } from '../harness/format.js'
import { type StoreSetup, storeTitles, withDurableStore } from '../harness/open-store.js'
import { type Options, UsageError } from '../harness/options.js'
import { defineSuite, noSetUp, type Row, type Table } from '../harness/suite.js'
import { runOnce } from '../harness/workers.js'
import type { Answer, Latencies, Setup } from '../targets/cleaning-process.js'

/*
 * How cleaning affects concurrent `record` calls. Several runs remove half of the events by age while the
 * same process records 500 events per second. Each round has a phase without cleaning and one with it,
 * which lasts as long as the run. At the end exactly the expired events must be gone.
 */

const LATENCIES: readonly (keyof Latencies)[] = ['p50', 'p99', 'max']
const seconds: Print = (value) => `${short(value)} s`

function rowsOf({ rounds, bytesBefore, bytesAfter }: Answer): Row[] {
  const latencies = LATENCIES.map((figure): Row => ({
    name: `\`record()\`, ${figure}`,
    ours: rounds.map(({ cleaning }) => cleaning[figure]),
    theirs: rounds.map(({ without }) => without[figure]),
    print: milliseconds,
  }))
  return [
    ...latencies,
    { name: 'duration of a run', ours: rounds.map((round) => round.seconds), print: seconds },
    {
      name: 'events removed per second',
      ours: rounds.map((round) => round.removed / round.seconds),
      print: whole,
    },
    { name: 'size after, before', ours: [bytesAfter], theirs: [bytesBefore], print: megabytes },
  ]
}

async function measure(store: StoreSetup['store'], options: Options): Promise<Table[]> {
  const { events, rounds, seconds } = options
  if (!Number.isInteger(events / 2 / rounds))
    throw new UsageError('--events must be a multiple of twice the rounds')
  const answer = await withDurableStore(store, (place) => {
    const setup: Setup = { place, events, rounds, seconds }
    return runOnce<Answer>('cleaning-process.ts', setup)
  })
  return [
    {
      title: `${storeTitles[store]}: ${rounds} runs remove ${whole(events / 2)} of ${whole(events)} events by \`maxAge\`, compared with no run`,
      text: 'The same process records 500 events/s. A call is measured from the moment it was due.',
      rows: rowsOf(answer),
    },
  ]
}

export const suite = defineSuite<undefined>({
  setUp: noSetUp,
  parts: {
    sqlite: (_, options) => measure('sqlite', options),
    postgres: (_, options) => measure('postgres', options),
  },
})
