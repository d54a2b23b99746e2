import { perSecond, ratios, whole } from '../harness/format.js'
import { withDurableStore } from '../harness/open-store.js'
import type { TimedOptions } from '../harness/options.js'
import { goalFor, type Row, rowOf } from '../harness/results.js'
import { type CaseName, CASES } from '../targets/http-cases.js'
import { EVENTS, measureFeed } from './http-stores.js'

/* The event feed on SQLite, compared with a route that sends the same bytes from memory. */

/** The minimum ratio of the feed's rate to that of the prepared responses. */
const GOALS = { paged10: 0.5, newest10: 0.5, newest1000: 0.4 } satisfies Partial<
  Record<CaseName, number>
>
const NAMES = Object.keys(GOALS) as (keyof typeof GOALS)[]

export const measure = (options: TimedOptions): Promise<Row[]> =>
  withDurableStore('sqlite', async (store) => {
    const measured = await measureFeed(store, NAMES, options)
    return NAMES.map((name) => {
      const { feed, prepared } = measured.get(name)!
      const [ours, theirs] = [feed, prepared].map((all) => all.map((one) => one.perSecond))
      const ratio = ratios(ours!, theirs!)
      return rowOf({
        group: `\`GET /api/events\` on SQLite, compared with a prepared body of the same size, ${whole(EVENTS)} events`,
        name: `${CASES[name].title}, ${CASES[name].connections} connections`,
        daybook: ours!,
        reference: { figures: theirs! },
        ratio,
        print: perSecond,
        goals: [goalFor('atLeast', GOALS[name], ratio)],
      })
    })
  })
