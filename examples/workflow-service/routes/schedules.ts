import { randomUUID } from 'node:crypto'
import { optional, record, text, timestamp, wholeNumber } from '../attributes.js'
import { scheduleFacts } from '../background/schedule.js'
import type { ScheduledChange } from '../model.js'
import { invalid } from '../problem.js'
import type { Service } from '../service.js'
import { changePlan } from './plans.js'
import { listOf } from './lists.js'
import { describe, param, readAttributes } from './request.js'
import { sendCreated, sendNothing, sendOne } from './respond.js'
import { del, get, post, type Route } from './route.js'
import { findOne } from './simple.js'

const NEW = record({
  name: text(),
  every_seconds: optional(wholeNumber(1, 86_400)),
  run_at: optional(timestamp),
  change: changePlan,
})

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()

export function scheduleRoutes(service: Service): Route[] {
  const { documents } = service
  const kind = 'scheduled_changes'
  const member = `/api/${kind}/:scheduled_change_id`

  return [
    get(
      `/api/${kind}`,
      listOf(kind, () => documents.all(kind)),
    ),

    post(`/api/${kind}`, async (ctx) => {
      const given = readAttributes(ctx, 'scheduled_change', NEW)
      const { name, every_seconds, run_at, change } = given
      if (run_at === null && every_seconds === null)
        throw invalid('every_seconds or run_at is required', '/data/attributes/every_seconds')
      const next_run_at = run_at ?? inSeconds(every_seconds ?? 0)
      const id = randomUUID()
      const last_change_id = null
      const scheduled: ScheduledChange = {
        id,
        name,
        every_seconds,
        next_run_at,
        change,
        last_change_id,
      }
      await documents.write((tx) => tx.put(kind, scheduled))
      describe(ctx, scheduleFacts(scheduled))
      sendCreated(ctx, kind, scheduled)
    }),

    get(member, (ctx) =>
      sendOne(ctx, kind, findOne(service, kind, param(ctx, 'scheduled_change_id'))),
    ),

    del(member, async (ctx) => {
      const scheduled = findOne(service, kind, param(ctx, 'scheduled_change_id'))
      describe(ctx, scheduleFacts(scheduled))
      await documents.write((tx) => tx.remove(kind, scheduled.id))
      sendNothing(ctx)
    }),
  ]
}
