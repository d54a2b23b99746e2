import type { RouterContext } from '@koa/router'
import { stepFacts } from '../engine/context.js'
import type { Decision, Engine } from '../engine/engine.js'
import type { Activity, Step } from '../model.js'
import { Problem } from '../problem.js'
import type { Service } from '../service.js'
import { describe, laterIn, param, usernameOf } from './request.js'
import { refuseReaders } from './permission.js'
import { sendOne } from './respond.js'
import { get, post, type Route } from './route.js'

/** Why an approval operation is not this user's; undefined where it is. */
function denial(step: Step, decision: Decision, username: string): string | undefined {
  const { definition, status } = step
  if (decision === 'continue' && status === 'waiting_for_approval')
    return 'the step waits for an approval: only that releases it'
  const decidesApproval = decision === 'approve' || decision === 'reject'
  if (!decidesApproval || definition.action !== 'approval') return undefined
  if (definition.requires_approval_from.includes(username)) return undefined
  return `${username} is not an approver of the step`
}

/** Endpoints of the steps of changes or of workflow runs. */
export function stepRoutes({ note }: Service, engine: Engine): Route[] {
  const { names } = engine.context
  const member = `/api/${names.steps}/:${names.stepLink}`

  const stepIn = (ctx: RouterContext): { activity: Activity; step: Step } => {
    const found = engine.step(param(ctx, names.stepLink))
    describe(ctx, stepFacts(names, found.activity, found.step))
    return found
  }

  const decisionRoute = (decision: Decision): Route => ({
    // Who may not change things may still be an approver, or be denied as one who is not.
    ...post(`${member}/${decision}`, async (ctx) => {
      const { activity, step } = stepIn(ctx)
      const username = usernameOf(ctx)
      const facts = stepFacts(names, activity, step)
      const reason = denial(step, decision, username)
      if (reason !== undefined && decision !== 'cancel') {
        await note(`audit:${names.steps}:${decision}:denied`, facts, username)
        throw new Problem(403, 'DENIED', reason)
      }
      if (step.definition.action !== 'approval' || decision === 'cancel') refuseReaders(username)
      const decided = await engine.decide(step.id, decision, username, laterIn(ctx))
      if (decision !== 'cancel') await note(`audit:${names.steps}:${decision}`, facts, username)
      sendOne(ctx, names.steps, decided)
    }),
    decidesItself: true,
  })

  return [
    get(member, (ctx) => sendOne(ctx, names.steps, stepIn(ctx).step)),
    ...(['approve', 'reject', 'continue', 'cancel'] as const).map(decisionRoute),
  ]
}
