import type { RetryOptions } from '../documents/documents.js'
import type { Activity, Step } from '../model.js'
import { type EventName, failureData } from '../notes.js'
import { activityFacts, type EngineContext, stepFacts, stepsOf } from './context.js'
import { IllegalMove, isFinished, moveActivity, moveStep, type StepMove } from './transitions.js'

/** The end of an activity is not given up so soon. */
const END_TIMEOUT_MS = 30_000

type Data = Readonly<Record<string, unknown>>

/** The moves that activities and steps make by themselves, and the events that record them. */
export interface Moves {
  noteStep(types: readonly EventName[], activity: Activity, step: Step, data?: Data): Promise<void>
  /** The moved step, or undefined if a user moved it first or the database stayed unavailable. */
  moveStep(
    activity: Activity,
    step: Step,
    move: StepMove,
    details?: Partial<Step>,
  ): Promise<Step | undefined>
  /**
   * Makes this process the owner of an activity whose process has ended, and fails the step that was
   * running. Returns false if another process was first or a user ended the activity.
   */
  takeOver(activity: Activity): Promise<boolean>
  end(activityId: string, move: 'succeed' | 'fail'): Promise<void>
}

const INTERRUPTED = 'the service stopped while the step was running'

const createNoteStep =
  ({ names, note }: EngineContext): Moves['noteStep'] =>
  async (types, activity, step, data = {}) => {
    const facts = { ...stepFacts(names, activity, step), ...data }
    for (const type of types) await note(type, facts, activity.started_by)
  }

function createEnd({ names, documents, note, pods, background }: EngineContext): Moves['end'] {
  return async (activityId, move) => {
    try {
      const activity = await documents.write(
        (tx) => {
          const present = documents.get(names.activities, activityId)
          if (!present) throw new IllegalMove('activity', move, 'removed')
          const status = moveActivity(present.status, move)
          const ended = { ...present, status, finished_at: new Date().toISOString() }
          tx.put(names.activities, ended)
          return ended
        },
        { timeoutMs: END_TIMEOUT_MS },
      )
      const outcome = move === 'succeed' ? 'success' : 'error'
      const facts = activityFacts(names, activity)
      await note(`api:${names.activities}:${outcome}`, facts, activity.started_by)
      if (pods) background.run(() => pods.remove(activity))
    } catch (error) {
      if (!(error instanceof IllegalMove)) throw error
    }
  }
}

interface StepChange {
  readonly move: StepMove
  readonly details: Partial<Step>
}

/** Throws `IllegalMove` where the step or its activity does not allow the move. */
const writeStep = (
  { names, documents }: EngineContext,
  id: string,
  { move, details }: StepChange,
  retry: RetryOptions,
): Promise<Step> =>
  documents.write((tx) => {
    const present = documents.get(names.steps, id)
    if (!present) throw new IllegalMove('step', move, 'removed')
    const status = documents.get(names.activities, present.activity_id)?.status ?? 'removed'
    if (move === 'start' && status !== 'running')
      throw new IllegalMove('activity', 'starting a step', status)
    const moved = { ...present, ...details, status: moveStep(present.status, move) }
    tx.put(names.steps, moved)
    return moved
  }, retry)

export function createMoves(context: EngineContext): Moves {
  const { names, documents } = context
  const noteStep = createNoteStep(context)
  const end = createEnd(context)

  const giveUp = async (activity: Activity, step: Step, error: unknown): Promise<void> => {
    const failure = failureData(error)
    try {
      const change: StepChange = { move: 'collapse', details: { error: failure.error } }
      await writeStep(context, step.id, change, { timeoutMs: context.timings.systemError })
    } catch (problem) {
      if (problem instanceof IllegalMove) return
      await noteStep(['api:assign_system_error_job:error'], activity, step, failureData(problem))
    }
    await noteStep(names.transitionFailed, activity, step, failure)
    await end(activity.id, 'fail')
  }

  return {
    noteStep,
    end,

    async moveStep(activity, step, move, details = {}) {
      try {
        return await writeStep(
          context,
          step.id,
          { move, details },
          {
            timeoutMs: context.timings.transition,
            onBusy: (error) =>
              noteStep([names.transitionDelayed], activity, step, failureData(error)),
          },
        )
      } catch (error) {
        if (!(error instanceof IllegalMove)) await giveUp(activity, step, error)
        return undefined
      }
    },

    async takeOver(activity) {
      const interrupted = await documents.write((tx) => {
        const present = documents.get(names.activities, activity.id)
        if (!present || present.owner !== activity.owner || isFinished(present.status))
          return undefined
        tx.put(names.activities, { ...present, owner: documents.processId })
        const running = stepsOf(context, present).filter(({ status }) => status === 'running')
        for (const step of running)
          tx.put(names.steps, {
            ...step,
            status: moveStep(step.status, 'fail'),
            error: INTERRUPTED,
          })
        return running
      })
      if (!interrupted) return false
      for (const step of interrupted) {
        await noteStep(names.processingFailed, activity, step, { error: INTERRUPTED })
        await end(activity.id, 'fail')
      }
      return true
    },
  }
}
