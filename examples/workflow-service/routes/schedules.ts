import { randomUUID } from 'node:crypto'
import { list, optional, record, text, timestamp, wholeNumber } from '../attributes.js'
import { scheduleFacts } from '../background/schedule-facts.js'
import { checkApprovers } from '../ldap/approvers.js'
import type { Kinds } from '../model.js'
import { invalid } from '../problem.js'
import type { Service } from '../service.js'
import { changePlan } from './plans.js'
import { listOf } from './lists.js'
import { describe, param, readAttributes, usernameOf } from './request.js'
import { sendCreated, sendNothing, sendOne } from './respond.js'
import { del, get, post, type Route } from './route.js'
import { findOne } from './simple.js'
import type { RouterContext } from '@koa/router'

const TIMES = {
  name: text(),
  every_seconds: optional(wholeNumber(1, 86_400)),
  run_at: optional(timestamp),
}

const NEW_CHANGE = record({
  ...TIMES,
  change: changePlan,
  git_remote_id: optional(text()),
  revision: optional(text({ pattern: /^[A-Za-z0-9_][A-Za-z0-9_./-]*$/, expected: 'a branch' })),
  commit_file_patterns: list(text()),
})

/** The workflow is looked up when a run is due. */
const NEW_WORKFLOW = record({ ...TIMES, workflow_id: text() })

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()

interface Times {
  readonly every_seconds: number | null
  readonly run_at: string | null
}

/** The parts that a request does not give. */
function newSchedule({ every_seconds, run_at }: Times) {
  if (run_at === null && every_seconds === null)
    throw invalid('every_seconds or run_at is required', '/data/attributes/every_seconds')
  return { id: randomUUID(), next_run_at: run_at ?? inSeconds(every_seconds ?? 0), last_id: null }
}

function routesOf<K extends 'scheduled_changes' | 'scheduled_workflows'>(
  service: Service,
  kind: K,
  read: (ctx: RouterContext) => Promise<Kinds[K]>,
): Route[] {
  const { documents } = service
  const member = `/api/${kind}/:schedule_id`
  const scheduleIn = (ctx: RouterContext) => findOne(service, kind, param(ctx, 'schedule_id'))

  return [
    get(
      `/api/${kind}`,
      listOf(kind, () => documents.all(kind)),
    ),

    post(`/api/${kind}`, async (ctx) => {
      const scheduled = await read(ctx)
      await documents.write((tx) => tx.put(kind, scheduled))
      describe(ctx, scheduleFacts(scheduled))
      sendCreated(ctx, kind, scheduled)
    }),

    get(member, (ctx) => sendOne(ctx, kind, scheduleIn(ctx))),

    del(member, async (ctx) => {
      const scheduled = scheduleIn(ctx)
      describe(ctx, scheduleFacts(scheduled))
      await documents.write((tx) => tx.remove(kind, scheduled.id))
      sendNothing(ctx)
    }),
  ]
}

export const scheduleRoutes = (service: Service): Route[] => [
  ...routesOf(service, 'scheduled_changes', async (ctx) => {
    const { run_at, ...given } = readAttributes(ctx, 'scheduled_change', NEW_CHANGE)
    await checkApprovers(service, given.change.steps, usernameOf(ctx))
    return { ...newSchedule({ ...given, run_at }), ...given }
  }),
  ...routesOf(service, 'scheduled_workflows', (ctx) => {
    const { run_at, ...given } = readAttributes(ctx, 'scheduled_workflow', NEW_WORKFLOW)
    return Promise.resolve({ ...newSchedule({ ...given, run_at }), ...given })
  }),
]
