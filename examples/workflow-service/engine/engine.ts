import { rm } from 'node:fs/promises'
import type { Transaction } from '../documents/documents.js'
import type { Activity, ChangePlan, Step } from '../model.js'
import { notFound, Problem } from '../problem.js'
import { newActivity } from './creation.js'
import { activityFacts, type EngineContext, stepFacts, stepsOf } from './context.js'
import { removeActivity } from './removal.js'
import { createRunner, type Runner } from './runner.js'
import { canMoveStep, isFinished, moveActivity, moveStep } from './transitions.js'

/** Takes work that is to begin once the request's own event is recorded. */
export type Later = (task: () => Promise<void>) => void

export type UserMove = 'start' | 'pause' | 'resume' | 'cancel' | 'abort'
export type Decision = 'approve' | 'reject' | 'continue' | 'cancel'

/** Changes, or workflow runs: what users can do with them and their steps. */
export interface Engine {
  readonly context: EngineContext
  readonly recover: Runner['recover']
  readonly run: Runner['run']
  create(plan: ChangePlan, workflowId?: string): Promise<Activity>
  /** Creates one that is started already; `run` is the caller's. */
  launch(tx: Transaction, plan: ChangePlan): Activity
  activity(id: string): Activity
  step(id: string): { activity: Activity; step: Step }
  move(id: string, move: UserMove, username: string | null, later: Later): Promise<Activity>
  decide(stepId: string, decision: Decision, username: string, later: Later): Promise<Step>
  remove(id: string, later: Later): Promise<void>
}

/** How a decision about one step ends the whole, where it does. */
const ENDS = { approve: null, continue: null, reject: 'abort', cancel: 'cancel' } as const

export function createEngine(context: EngineContext): Engine {
  const { names, documents, note } = context
  const runner = createRunner(context)

  const activity = (id: string): Activity => {
    const found = documents.get(names.activities, id)
    if (!found) throw notFound(`${names.activity} ${id}`)
    return found
  }

  const step = (id: string): { activity: Activity; step: Step } => {
    const found = documents.get(names.steps, id)
    if (!found) throw notFound(`step ${id}`)
    return { activity: activity(found.activity_id), step: found }
  }

  const applyMove = (
    tx: Transaction,
    id: string,
    move: UserMove,
    username: string | null,
    decidedStep?: string,
  ): { moved: Activity; ended: Step[] } => {
    const present = activity(id)
    const status = moveActivity(present.status, move)
    const moved = {
      ...present,
      status,
      started_by: move === 'start' ? username : present.started_by,
      owner: move === 'start' ? documents.processId : present.owner,
      finished_at: isFinished(status) ? new Date().toISOString() : null,
    }
    tx.put(names.activities, moved)
    if (move !== 'cancel' && move !== 'abort') return { moved, ended: [] }
    const ended = stepsOf(context, present)
      .filter((one) => one.id !== decidedStep && canMoveStep(one.status, move))
      .map((one) => Object.assign({}, one, { status: moveStep(one.status, move) }))
    for (const one of ended) tx.put(names.steps, one)
    return { moved, ended }
  }

  const noteEnded = async (
    owner: Activity,
    ended: readonly Step[],
    move: 'cancel' | 'abort',
    username: string | null,
  ): Promise<void> => {
    for (const one of ended)
      await note(`api:${names.steps}:${move}`, stepFacts(names, owner, one), username)
  }

  const move: Engine['move'] = async (id, userMove, username, later) => {
    const { moved, ended } = await documents.write((tx) => applyMove(tx, id, userMove, username))
    for (const one of ended) runner.interrupt(one.id)
    if (userMove === 'start' || userMove === 'resume') later(() => runner.run(id))
    if (userMove === 'cancel' || userMove === 'abort')
      later(() => noteEnded(moved, ended, userMove, username))
    return moved
  }

  const decide: Engine['decide'] = async (stepId, decision, username, later) => {
    const ending = ENDS[decision]
    const { owner, decided, ended } = await documents.write((tx) => {
      const { activity: present, step: undecided } = step(stepId)
      const status = moveStep(undecided.status, decision)
      const decided = { ...undecided, status }
      tx.put(names.steps, decided)
      if (ending === null || isFinished(present.status))
        return { owner: present, decided, ended: undefined }
      const { moved, ended } = applyMove(tx, present.id, ending, username, stepId)
      return { owner: moved, decided, ended }
    })
    runner.interrupt(stepId)
    if (ending === null)
      later(async () => {
        await note(`api:${names.steps}:success`, stepFacts(names, owner, decided), owner.started_by)
        await runner.run(owner.id)
      })
    else if (ended)
      later(async () => {
        const others = decision === 'reject' ? [decided, ...ended] : ended
        await noteEnded(owner, others, ending, username)
        await note(`api:${names.activities}:${ending}`, activityFacts(names, owner), username)
      })
    return decided
  }

  return {
    context,
    recover: runner.recover,
    run: runner.run,
    activity,
    step,
    move,
    decide,
    create: (plan, workflowId) =>
      documents.write((tx) => newActivity(context, tx, plan, workflowId ?? null)),
    launch: (tx, plan) => {
      const created = newActivity(context, tx, plan, null)
      const status = moveActivity(created.status, 'start')
      const started = { ...created, status, owner: documents.processId }
      tx.put(names.activities, started)
      return started
    },
    remove: async (id, later) => {
      await documents.write((tx) => {
        const present = activity(id)
        if (present.status !== 'waiting' && !isFinished(present.status))
          throw new Problem(409, 'NOT_FINISHED', `it is ${present.status}: cancel it first`)
        removeActivity(tx, names, present)
      })
      later(() => rm(context.directoryOf(id), { recursive: true, force: true }))
    },
  }
}
