import type { Activity, Step } from '../model.js'
import { type EventName, failureData } from '../notes.js'
import { activityFacts, type EngineContext, stepFacts, stepsOf } from './context.js'
import { IllegalMove, isFinished, moveActivity, moveStep, type StepMove } from './transitions.js'

// A transition is tried again for so long before its step is given up.
const TRANSITION_PATIENCE_MS = 600
const SYSTEM_ERROR_PATIENCE_MS = 30_000

type Data = Readonly<Record<string, unknown>>

/** The moves that activities and steps make by themselves, with the events that tell of them. */
export interface Moves {
  noteStep(types: readonly EventName[], activity: Activity, step: Step, data?: Data): Promise<void>
  /** The moved step; undefined where a user's move came first or the database gave no way. */
  moveStep(
    activity: Activity,
    step: Step,
    move: StepMove,
    details?: Partial<Step>,
  ): Promise<Step | undefined>
  /**
   * Makes the activity of an ended process this one's, and fails the step that was running. False
   * where another process came first, or a user ended it.
   */
  takeOver(activity: Activity): Promise<boolean>
  end(activityId: string, move: 'succeed' | 'fail'): Promise<void>
}

const LOST = 'the service stopped while the step was running'

export function createMoves(context: EngineContext): Moves {
  const { names, documents, note } = context

  const noteStep: Moves['noteStep'] = async (types, activity, step, data = {}) => {
    const facts = { ...stepFacts(names, activity, step), ...data }
    for (const type of types) await note(type, facts, activity.started_by)
  }

  const end = async (activityId: string, move: 'succeed' | 'fail'): Promise<void> => {
    try {
      const activity = await documents.write(
        (tx) => {
          const present = documents.get(names.activities, activityId)
          if (!present) throw new IllegalMove('it', move, 'removed')
          const status = moveActivity(present.status, move)
          const ended = { ...present, status, finished_at: new Date().toISOString() }
          tx.put(names.activities, ended)
          return ended
        },
        { patienceMs: SYSTEM_ERROR_PATIENCE_MS },
      )
      const outcome = move === 'succeed' ? 'success' : 'error'
      const facts = activityFacts(names, activity)
      await note(`api:${names.activities}:${outcome}`, facts, activity.started_by)
    } catch (error) {
      if (!(error instanceof IllegalMove)) throw error
    }
  }

  const writeStep = (
    id: string,
    move: StepMove,
    details: Partial<Step>,
    patienceMs: number,
    onBusy?: (error: unknown) => Promise<void>,
  ): Promise<Step> =>
    documents.write(
      (tx) => {
        const present = documents.get(names.steps, id)
        if (!present) throw new IllegalMove('the step', move, 'removed')
        const status = documents.get(names.activities, present.activity_id)?.status ?? 'removed'
        if (move === 'start' && status !== 'running')
          throw new IllegalMove('it', 'starting a step', status)
        const moved = { ...present, ...details, status: moveStep(present.status, move) }
        tx.put(names.steps, moved)
        return moved
      },
      onBusy ? { patienceMs, onBusy } : { patienceMs },
    )

  const giveUp = async (activity: Activity, step: Step, error: unknown): Promise<void> => {
    const failure = failureData(error)
    try {
      const details = { error: failure.error }
      await writeStep(step.id, 'collapse', details, SYSTEM_ERROR_PATIENCE_MS)
    } catch (problem) {
      if (problem instanceof IllegalMove) return
      await noteStep(['api:assign_system_error_job:error'], activity, step, failureData(problem))
    }
    await noteStep(names.transitionFailed, activity, step, failure)
    await end(activity.id, 'fail')
  }

  const move: Moves['moveStep'] = async (activity, step, stepMove, details = {}) => {
    try {
      return await writeStep(step.id, stepMove, details, TRANSITION_PATIENCE_MS, (error) =>
        noteStep([names.transitionDelayed], activity, step, failureData(error)),
      )
    } catch (error) {
      if (!(error instanceof IllegalMove)) await giveUp(activity, step, error)
      return undefined
    }
  }

  const takeOver: Moves['takeOver'] = async (activity) => {
    const lost = await documents.write((tx) => {
      const present = documents.get(names.activities, activity.id)
      if (!present || present.owner !== activity.owner || isFinished(present.status))
        return undefined
      tx.put(names.activities, { ...present, owner: documents.processId })
      const running = stepsOf(context, present).filter(({ status }) => status === 'running')
      for (const step of running)
        tx.put(names.steps, { ...step, status: moveStep(step.status, 'fail'), error: LOST })
      return running
    })
    if (!lost) return false
    for (const step of lost) {
      await noteStep(names.processingFailed, activity, step, { error: LOST })
      await end(activity.id, 'fail')
    }
    return true
  }

  return { noteStep, moveStep: move, takeOver, end }
}
