/** A query of the event feed. */
export interface HttpCase {
  readonly title: string
  readonly query: string
  readonly limit: number
  readonly connections: number
  /** Each request has a different query: the last digits of its time are the number of the request. */
  readonly isNumbered?: true
}

const newest = (limit: number, connections: number): HttpCase => ({
  title: `\`limit=${limit}\``,
  query: `limit=${limit}`,
  limit,
  connections,
})

export const CASES = {
  newest10: newest(10, 100),
  paged10: {
    ...newest(10, 100),
    title: '`limit=10`, a different `created_at_lt` in each request',
    query: 'limit=10&filter[created_at_lt]=2999-12-31T23:59:59.000000Z',
    isNumbered: true,
  },
  newest1000: newest(1000, 10),
} satisfies Readonly<Record<string, HttpCase>>

export type CaseName = keyof typeof CASES
export const CASE_NAMES = Object.keys(CASES) as CaseName[]
