import type { Transaction } from '../documents/documents.js'
import type { Activity, Step } from '../model.js'
import { notFound } from '../problem.js'
import { type EngineContext, stepFacts, stepsOf } from './context.js'
import { canMoveStep, isFinished, moveActivity, moveStep } from './transitions.js'

export type UserMove = 'start' | 'pause' | 'resume' | 'cancel' | 'abort'

/** Throws a 404 where the activity does not exist. */
export function findActivity({ names, documents }: EngineContext, id: string): Activity {
  const found = documents.get(names.activities, id)
  if (!found) throw notFound(`${names.activity} ${id}`)
  return found
}

/** Throws a 404 where the step does not exist. */
export function findStep(
  context: EngineContext,
  id: string,
): { readonly activity: Activity; readonly step: Step } {
  const { names, documents } = context
  const step = documents.get(names.steps, id)
  if (!step) throw notFound(`step ${id}`)
  return { activity: findActivity(context, step.activity_id), step }
}

export interface Moved {
  readonly activity: Activity
  /** Steps that ended with it. */
  readonly ended: readonly Step[]
}

/** Moves an activity. `cancel` and `abort` also end its steps, except the one that was decided. */
export function applyMove(
  context: EngineContext,
  tx: Transaction,
  activity: Activity,
  move: { readonly name: UserMove; readonly username: string | null; readonly decided?: string },
): Moved {
  const { names, documents } = context
  const { name, username, decided } = move
  const status = moveActivity(activity.status, name)
  const moved = {
    ...activity,
    status,
    started_by: name === 'start' ? username : activity.started_by,
    owner: name === 'start' ? documents.processId : activity.owner,
    finished_at: isFinished(status) ? new Date().toISOString() : null,
  }
  tx.put(names.activities, moved)
  if (name !== 'cancel' && name !== 'abort') return { activity: moved, ended: [] }
  const ended = stepsOf(context, activity)
    .filter((step) => step.id !== decided && canMoveStep(step.status, name))
    .map((step) => Object.assign({}, step, { status: moveStep(step.status, name) }))
  for (const step of ended) tx.put(names.steps, step)
  return { activity: moved, ended }
}

/** Records an event for each step that a user ended together with its activity. */
export async function noteEnded(
  { names, note }: EngineContext,
  { activity, ended }: Moved,
  move: 'cancel' | 'abort',
  username: string | null,
): Promise<void> {
  for (const step of ended)
    await note(`api:${names.steps}:${move}`, stepFacts(names, activity, step), username)
}
