import type { RouterContext } from '@koa/router'
import { stepFacts } from '../engine/context.js'
import type { Decision, Engine } from '../engine/engine.js'
import type { Documents } from '../documents/documents.js'
import { isApprover } from '../ldap/approvers.js'
import type { Activity, Step } from '../model.js'
import { Problem } from '../problem.js'
import type { Service } from '../service.js'
import { describe, deferIn, param, usernameOf } from './request.js'
import { checkMayChange } from './permission.js'
import { sendOne } from './respond.js'
import { get, post, type Route } from './route.js'

/** Why this user may not decide about the step; undefined if the user may. */
function denial(
  documents: Documents,
  step: Step,
  decision: Decision,
  username: string,
): string | undefined {
  const { definition, status } = step
  if (decision === 'continue' && status === 'waiting_for_approval')
    return 'the step waits for approval and cannot be continued'
  const decidesApproval = decision === 'approve' || decision === 'reject'
  if (!decidesApproval || definition.action !== 'approval') return undefined
  if (isApprover(documents, definition.requires_approval_from, username)) return undefined
  return `${username} is not an approver of the step`
}

/** Endpoints of the steps of changes or of workflow runs. */
export function stepRoutes({ documents, note }: Service, engine: Engine): Route[] {
  const { names } = engine.context
  const member = `/api/${names.steps}/:${names.stepLink}`

  const stepIn = (ctx: RouterContext): { activity: Activity; step: Step } => {
    const found = engine.step(param(ctx, names.stepLink))
    describe(ctx, stepFacts(names, found.activity, found.step))
    return found
  }

  const decisionRoute = (decision: Decision): Route => ({
    // Approvers need not be editors. For other users, an event records the denial.
    ...post(`${member}/${decision}`, async (ctx) => {
      const { activity, step } = stepIn(ctx)
      const username = usernameOf(ctx)
      const facts = stepFacts(names, activity, step)
      const reason = denial(documents, step, decision, username)
      if (reason !== undefined && decision !== 'cancel') {
        await note(`audit:${names.steps}:${decision}:denied`, facts, username)
        throw new Problem(403, 'DENIED', reason)
      }
      if (step.definition.action !== 'approval' || decision === 'cancel')
        checkMayChange(documents, ctx)
      const decided = await engine.decide(step.id, decision, username, deferIn(ctx))
      if (decision !== 'cancel') await note(`audit:${names.steps}:${decision}`, facts, username)
      sendOne(ctx, names.steps, decided)
    }),
    checksPermission: true,
  })

  return [
    get(member, (ctx) => sendOne(ctx, names.steps, stepIn(ctx).step)),
    ...(['approve', 'reject', 'continue', 'cancel'] as const).map(decisionRoute),
  ]
}
