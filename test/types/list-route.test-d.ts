/* Compiled by `tsc`, never run. Only the lines under `@ts-expect-error` must not compile. */
import { listRoute } from 'daybook/koa'
import { postgresTable } from 'daybook/postgres'
import type { Pool } from 'pg'

interface Workflow {
  readonly id: string
  readonly name: string
  readonly tags: readonly string[]
  readonly due?: Date | null
  readonly steps: readonly { readonly action: string }[]
  readonly values: { readonly region: string } | null
  readonly anything: unknown
}

declare const workflows: readonly Workflow[]
declare const pool: Pool
const resource = 'workflow'

void listRoute({
  resource,
  source: () => workflows,
  attributes: {
    name: 'string',
    tags: 'string',
    due: 'timestamp',
    steps: 'object',
    values: 'object',
    values_region: 'string',
    anything: 'string',
  },
})
// @ts-expect-error a list of objects
void listRoute({ resource, source: () => workflows, attributes: { steps: 'string' } })
// @ts-expect-error an object
void listRoute({ resource, source: workflows, attributes: { values: 'string' } })
// The members of a table's rows are not known.
void listRoute({
  resource,
  source: postgresTable({ pool, table: 'x' }),
  attributes: { values: 'string', steps: 'object' },
})
