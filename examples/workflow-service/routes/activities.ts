import { optional, record, text } from '../attributes.js'
import { activityFacts } from '../engine/context.js'
import type { Engine } from '../engine/engine.js'
import type { UserMove } from '../engine/user-moves.js'
import { type Activity } from '../model.js'
import { Problem } from '../problem.js'
import type { Service } from '../service.js'
import { refuseIfCordoned } from '../sites/sites.js'
import type { RouterContext } from '@koa/router'
import { listOf } from './lists.js'
import { describe, deferIn, param, usernameOf } from './request.js'
import { sendCreated, sendNothing, sendOne } from './respond.js'
import { del, get, post, type Route } from './route.js'

const MOVES: readonly UserMove[] = ['start', 'cancel', 'abort', 'pause', 'resume']

/** The optional reason of a pause: a JSON:API attribute, or a member of the body. */
function messageIn(ctx: RouterContext): string | null {
  const { data, ...members } = Object(ctx.request.body) as { data?: { attributes?: unknown } }
  return record({ message: optional(text()) })(data?.attributes ?? members, '').message
}

/** Endpoints of changes or of workflow runs. */
export function activityRoutes(
  service: Service,
  engine: Engine,
  create: (ctx: RouterContext) => Promise<Activity>,
): Route[] {
  const { documents, note, settings } = service
  const { names } = engine.context
  const collection = `/api/${names.activities}`
  const member = `${collection}/:${names.activityLink}`

  const activityIn = (ctx: RouterContext): Activity => {
    const activity = engine.activity(param(ctx, names.activityLink))
    describe(ctx, activityFacts(names, activity))
    return activity
  }

  const moveRoute = (move: UserMove): Route =>
    post(`${member}/${move}`, async (ctx) => {
      const { id } = activityIn(ctx)
      const username = usernameOf(ctx)
      if (move === 'start' && settings.flag('maintenance_mode'))
        throw new Problem(409, 'IN_MAINTENANCE', 'nothing can be started in maintenance mode')
      if (move === 'start') refuseIfCordoned(service)
      const message = move === 'pause' || move === 'resume' ? messageIn(ctx) : null
      const activity = await engine.move(id, move, username, deferIn(ctx))
      if (move === 'pause' || move === 'resume') {
        const facts = activityFacts(names, activity)
        const reason = message === null ? {} : { message }
        await note(`audit:${names.activities}:${move}`, { ...facts, ...reason }, username)
      }
      sendOne(ctx, names.activities, activity)
    })

  return [
    get(
      collection,
      listOf(names.activities, () => documents.all(names.activities)),
    ),

    post(collection, async (ctx) => {
      const activity = await create(ctx)
      describe(ctx, activityFacts(names, activity))
      sendCreated(ctx, names.activities, activity)
    }),

    get(member, (ctx) => sendOne(ctx, names.activities, activityIn(ctx))),

    del(member, async (ctx) => {
      await engine.remove(activityIn(ctx).id, deferIn(ctx))
      sendNothing(ctx)
    }),

    ...MOVES.map(moveRoute),
  ]
}
