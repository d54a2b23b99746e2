import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { median } from 'simple-statistics'
import { startCitus } from '../support/citus.js'
import { startPostgresFrom } from '../support/postgres.js'
import type { Campaign } from './run.js'

/*
 * Compares the cost of recording, listing and counting on Citus and on a Postgres without Citus, with the same
 * programs, settings and events. The two alternate, so that both have the same conditions. Figures are medians of the
 * rounds. Ratios are given with their range.
 */

const DURABLE = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on']
const EVENTS = 20_000
const CALLERS = 32

interface Side {
  readonly audit: AuditLog
  recorded: number
}

const record = ({ audit }: Side, n: number): Promise<unknown> =>
  audit.recordCustom('test:overhead', {
    n,
    name: `name ${n % 100}`,
    place: { city: `city ${n % 7}` },
  })

/** Runs `act` repeatedly, one call after another. Resolves to the median duration in milliseconds. */
async function timeEach(count: number, act: (i: number) => Promise<unknown>): Promise<number> {
  const durations: number[] = []
  for (let i = 0; i < count; i++) {
    const begun = performance.now()
    await act(i)
    durations.push(performance.now() - begun)
  }
  return median(durations)
}

async function recordMany(side: Side, count: number): Promise<number> {
  const begun = performance.now()
  const end = side.recorded + count
  const caller = async (): Promise<void> => {
    while (side.recorded < end) await record(side, side.recorded++)
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  return (performance.now() - begun) / count
}

/** Milliseconds for each operation. */
const OPERATIONS: Readonly<Record<string, (side: Side) => Promise<number>>> = {
  'record, one call at a time': (side) => timeEach(200, () => record(side, side.recorded++)),
  [`record, ${CALLERS} callers, per event`]: (side) => recordMany(side, 3000),
  'list of the newest 50': ({ audit }) => timeEach(100, () => audit.list('limit=50')),
  'list of 10 by a value': ({ audit }) =>
    timeEach(50, (i) => audit.list(`filter[name_eq]=name ${i}&limit=10`)),
  'list of 10 by two values, of few events': ({ audit }) =>
    timeEach(50, (i) => audit.list(`filter[n_eq]=${i * 10}&filter[place_city_present]=1&limit=10`)),
  'count by a value': ({ audit }) => timeEach(20, (i) => audit.count(`filter[name_eq]=name ${i}`)),
}

async function openSide(connectionString: string, citus: boolean): Promise<Side> {
  const audit = new AuditLog({ store: postgresStore({ connectionString, citus }), types: {} })
  const side = { audit, recorded: 0 }
  await recordMany(side, EVENTS)
  return side
}

const rounded = (value: number): number => Number(value.toPrecision(3))

export const campaign: Campaign = {
  rounds: 7,
  async run({ rounds, seconds = Infinity }) {
    const { url, programs, stop } = await startCitus(DURABLE)
    if (!programs) throw new Error('DAYBOOK_TEST_CITUS must not be the URL of a running cluster')
    const server = await startPostgresFrom(programs, [...DURABLE, 'wal_level=logical'])
    const sides = [await openSide(server.url, false), await openSide(url, true)] as const
    const names = Object.keys(OPERATIONS)
    const found = names.map((): [plain: number[], citus: number[]] => [[], []])
    const end = performance.now() + seconds * 1000
    try {
      for (let round = 0; round < rounds && performance.now() < end; round++) {
        const order = round % 2 === 0 ? [0, 1] : [1, 0]
        for (const [i, name] of names.entries())
          for (const side of order) found[i]![side]!.push(await OPERATIONS[name]!(sides[side]!))
      }
    } finally {
      for (const { audit } of sides) await audit.close()
      await server.stop()
      await stop()
    }
    const figures = names.map((name, i) => {
      const [plain, citus] = found[i]!
      const ratios = citus.map((value, round) => value / plain[round]!)
      const [low, high] = [Math.min(...ratios), Math.max(...ratios)].map(rounded)
      return [
        name,
        `${rounded(median(plain))} ms, on Citus ${rounded(median(citus))} ms: ` +
          `${rounded(median(ratios))} × [${low}–${high}]`,
      ]
    })
    return { roundsDone: found[0]![0].length, ...(Object.fromEntries(figures) as object) }
  },
}
