import type { Activity, Step } from '../model.js'
import { failureData } from '../notes.js'
import { performAction } from './actions.js'
import { type EngineContext, stepFacts, stepsOf } from './context.js'
import { findAbandoned } from '../owners.js'
import { createMoves } from './moves.js'
import { isFinished, type StepStatus } from './transitions.js'

export interface Runner {
  /**
   * Runs the steps of an activity until it ends, is paused, or waits for a user. Activities of other
   * processes are left alone.
   */
  run(activityId: string): Promise<void>
  /** Aborts the running action of the step. */
  interrupt(stepId: string): void
  /** Takes over the activities of ended processes; returns the ids of those to run. */
  recover(): Promise<readonly string[]>
}

const USER_MOVES = { approval: 'ask_approval', manual: 'ask_input' } as const

const FAILED: ReadonlySet<StepStatus> = new Set(['error', 'system_error'])

export function createRunner(context: EngineContext): Runner {
  const { names, documents, background } = context
  const { noteStep, moveStep, takeOver, end } = createMoves(context)
  const interrupts = new Map<string, AbortController>()
  /** Activities that are being taken over: their files may not be here yet. */
  const arriving = new Set<string>()

  const log = (activity: Activity, step: Step, text: string): void =>
    background.run(() => context.forwardLog(step, text, stepFacts(names, activity, step)))

  const act = async (activity: Activity, step: Step): Promise<void> => {
    const { definition } = step
    if (definition.action === 'approval' || definition.action === 'manual') {
      await moveStep(activity, step, USER_MOVES[definition.action])
      return
    }
    const interrupt = new AbortController()
    interrupts.set(step.id, interrupt)
    try {
      const result = await performAction(definition, {
        directory: context.directoryOf(activity.id),
        lockDatabase: documents.lock,
        slots: context.slots,
        activityId: activity.id,
        pods: context.pods,
        mirrors: context.mirrors,
        startedBy: activity.started_by,
        get: context.get,
        signal: AbortSignal.any([interrupt.signal, background.stopping]),
        stopping: background.stopping,
      })
      log(activity, step, result ?? 'done')
      if (await moveStep(activity, step, 'succeed', { result }))
        await noteStep([`api:${names.steps}:success`], activity, step)
    } catch (error) {
      // The process that takes the activity over fails the running step.
      if (background.stopping.aborted) return
      const failure = failureData(error)
      log(activity, step, failure.error)
      if (!(await moveStep(activity, step, 'fail', { error: failure.error }))) return
      await noteStep(names.actionFailed, activity, step, failure)
      await end(activity.id, 'fail')
    } finally {
      interrupts.delete(step.id)
    }
  }

  const run = async (activityId: string): Promise<void> => {
    if (arriving.has(activityId)) return
    while (!background.stopping.aborted) {
      const activity = documents.get(names.activities, activityId)
      if (activity?.status !== 'running' || activity.owner !== documents.processId) return
      const next = stepsOf(context, activity).find(({ status }) => status !== 'success')
      if (!next) return end(activityId, 'succeed')
      if (FAILED.has(next.status)) return end(activityId, 'fail')
      if (next.status !== 'waiting') return
      const started = await moveStep(activity, next, 'start')
      if (!started) return
      await noteStep([`api:${names.steps}:start`], activity, started)
      await act(activity, started)
    }
  }

  const interrupt = (stepId: string): void => interrupts.get(stepId)?.abort()

  // Users may have decided through another process.
  documents.watch((kind, id) => {
    const step = kind === names.steps ? documents.get(names.steps, id) : undefined
    if (step && step.status !== 'running') interrupt(id)
    const activityId = kind === names.activities ? id : step?.activity_id
    if (activityId !== undefined) background.run(() => run(activityId))
  })

  return {
    run,
    interrupt,
    recover: async () => {
      const unfinished = documents
        .all(names.activities)
        .filter(({ status }) => status !== 'waiting' && !isFinished(status))
      const taken: string[] = []
      for (const activity of await findAbandoned(documents, unfinished)) {
        arriving.add(activity.id)
        try {
          if (!(await takeOver(activity))) continue
          await context.takeFiles(activity)
          taken.push(activity.id)
        } finally {
          arriving.delete(activity.id)
        }
      }
      return taken
    },
  }
}
