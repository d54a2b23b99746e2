import { flag } from '../attributes.js'
import { activityFacts } from '../engine/context.js'
import { retryChange } from '../engine/retry.js'
import type { Service } from '../service.js'
import { deferIn, describe, param, readNew, usernameOf } from './request.js'
import { sendOne } from './respond.js'
import { post, type Route } from './route.js'

export const retryRoutes = (service: Service): Route[] => [
  post('/api/changes/:change_id/retry', async (ctx) => {
    const { names } = service.changes.context
    const { id, ...present } = service.changes.activity(param(ctx, 'change_id'))
    describe(ctx, activityFacts(names, { id, ...present }))
    const { latest_revision } = readNew(ctx, 'change', { latest_revision: flag(false) })
    const options = { latest: latest_revision, username: usernameOf(ctx) }
    const { change, afterwards } = await retryChange(service, id, options)
    deferIn(ctx)(afterwards)
    sendOne(ctx, 'changes', change)
  }),
]
