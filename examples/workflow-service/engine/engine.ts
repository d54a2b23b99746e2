import { rm } from 'node:fs/promises'
import type { Transaction } from '../documents/documents.js'
import type { Activity, ChangePlan, Step } from '../model.js'
import { Problem } from '../problem.js'
import { activityFacts, type EngineContext, stepFacts } from './context.js'
import { newActivity } from './creation.js'
import { removeActivity } from './removal.js'
import { createRunner, type Runner } from './runner.js'
import { isFinished, moveActivity, moveStep } from './transitions.js'
import { applyMove, findActivity, findStep, noteEnded, type UserMove } from './user-moves.js'

/** Defers a task until the event of the request has been recorded. */
export type Defer = (task: () => Promise<void>) => void

export type Decision = 'approve' | 'reject' | 'continue' | 'cancel'

/** Changes, or workflow runs: what users can do with them and their steps. */
export interface Engine {
  readonly context: EngineContext
  readonly recover: Runner['recover']
  readonly run: Runner['run']
  create(plan: ChangePlan, workflowId?: string): Promise<Activity>
  /** Creates an activity that is already started. The caller calls `run`. */
  launch(tx: Transaction, plan: ChangePlan, workflowId?: string): Activity
  /** Throws a 404 where it does not exist. */
  activity(id: string): Activity
  /** Throws a 404 where it does not exist. */
  step(id: string): { readonly activity: Activity; readonly step: Step }
  move(id: string, move: UserMove, username: string | null, defer: Defer): Promise<Activity>
  decide(stepId: string, decision: Decision, username: string, defer: Defer): Promise<Step>
  remove(id: string, defer: Defer): Promise<void>
}

/** The move of the activity that a decision about one of its steps causes. */
const CONSEQUENCES = { approve: null, continue: null, reject: 'abort', cancel: 'cancel' } as const

function createDecide(context: EngineContext, runner: Runner): Engine['decide'] {
  const { names, documents, note } = context
  return async (stepId, decision, username, defer) => {
    const consequence = CONSEQUENCES[decision]
    const { activity, decided, moved } = await documents.write((tx) => {
      const { activity, step } = findStep(context, stepId)
      const decided = { ...step, status: moveStep(step.status, decision) }
      tx.put(names.steps, decided)
      if (consequence === null || isFinished(activity.status)) return { activity, decided }
      const move = { name: consequence, username, decided: stepId }
      return { activity, decided, moved: applyMove(context, tx, activity, move) }
    })
    runner.interrupt(stepId)
    if (consequence === null)
      defer(async () => {
        const facts = stepFacts(names, activity, decided)
        await note(`api:${names.steps}:success`, facts, activity.started_by)
        await runner.run(activity.id)
      })
    else if (moved)
      defer(async () => {
        const ended = decision === 'reject' ? [decided, ...moved.ended] : moved.ended
        await noteEnded(context, { ...moved, ended }, consequence, username)
        const facts = activityFacts(names, moved.activity)
        await note(`api:${names.activities}:${consequence}`, facts, username)
        await context.pods?.cancel(moved.activity)
      })
    return decided
  }
}

export function createEngine(context: EngineContext): Engine {
  const { names, documents } = context
  const runner = createRunner(context)
  return {
    context,
    recover: runner.recover,
    run: runner.run,
    activity: (id) => findActivity(context, id),
    step: (id) => findStep(context, id),
    decide: createDecide(context, runner),

    create: (plan, workflowId) =>
      documents.write((tx) => newActivity(context, tx, plan, workflowId ?? null)),

    launch(tx, plan, workflowId) {
      const created = newActivity(context, tx, plan, workflowId ?? null)
      const status = moveActivity(created.status, 'start')
      const started = { ...created, status, owner: documents.processId }
      tx.put(names.activities, started)
      return started
    },

    async move(id, name, username, defer) {
      const moved = await documents.write((tx) =>
        applyMove(context, tx, findActivity(context, id), { name, username }),
      )
      for (const step of moved.ended) runner.interrupt(step.id)
      if (name === 'start' || name === 'resume') defer(() => runner.run(id))
      if (name === 'cancel' || name === 'abort')
        defer(async () => {
          await noteEnded(context, moved, name, username)
          await context.pods?.cancel(moved.activity)
        })
      return moved.activity
    },

    async remove(id, defer) {
      await documents.write((tx) => {
        const activity = findActivity(context, id)
        if (activity.status !== 'waiting' && !isFinished(activity.status))
          throw new Problem(
            409,
            'NOT_FINISHED',
            `the ${names.activity} is ${activity.status}; cancel it first`,
          )
        removeActivity(tx, names, activity)
      })
      defer(() => rm(context.directoryOf(id), { recursive: true, force: true }))
    },
  }
}
