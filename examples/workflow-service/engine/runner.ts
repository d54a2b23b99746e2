import type { Activity, Step } from '../model.js'
import { failureData } from '../notes.js'
import { performAction } from './actions.js'
import { type EngineContext, stepsOf } from './context.js'
import { createMoves } from './moves.js'
import { isFinished, type StepStatus } from './transitions.js'

export interface Runner {
  /** Goes on with an activity until it ends, is paused, or waits for a person. */
  run(activityId: string): Promise<void>
  /** Stops what the step is doing at the moment. */
  interrupt(stepId: string): void
  /** Fails the steps that were running when the service stopped, and lists what is to go on. */
  recover(): Promise<readonly string[]>
}

const HOLDS = { approval: 'ask_approval', manual: 'ask_input' } as const

const FAILED: ReadonlySet<StepStatus> = new Set(['error', 'system_error'])

export function createRunner(context: EngineContext): Runner {
  const { names, documents, background } = context
  const { noteStep, moveStep, failLost, end } = createMoves(context)
  const interrupts = new Map<string, AbortController>()

  const act = async (activity: Activity, step: Step): Promise<void> => {
    const { definition } = step
    if (definition.action === 'approval' || definition.action === 'manual') {
      await moveStep(activity, step, HOLDS[definition.action])
      return
    }
    const interrupt = new AbortController()
    interrupts.set(step.id, interrupt)
    try {
      const result = await performAction(definition, {
        directory: context.directoryOf(activity.id),
        databaseFile: documents.filename,
        get: context.get,
        signal: AbortSignal.any([interrupt.signal, background.stopping]),
        stopping: background.stopping,
      })
      if (await moveStep(activity, step, 'succeed', { result }))
        await noteStep([`api:${names.steps}:success`], activity, step)
    } catch (error) {
      // The next start of the service finds the step running, and fails it.
      if (background.stopping.aborted) return
      const failure = failureData(error)
      if (!(await moveStep(activity, step, 'fail', { error: failure.error }))) return
      await noteStep(names.actionFailed, activity, step, failure)
      await end(activity.id, 'fail')
    } finally {
      interrupts.delete(step.id)
    }
  }

  const run = async (activityId: string): Promise<void> => {
    while (!background.stopping.aborted) {
      const activity = documents.get(names.activities, activityId)
      if (activity?.status !== 'running') return
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

  return {
    run,
    interrupt: (stepId) => interrupts.get(stepId)?.abort(),
    recover: async () => {
      const unfinished = documents
        .all(names.activities)
        .filter(({ status }) => status !== 'waiting' && !isFinished(status))
      for (const activity of unfinished)
        for (const step of stepsOf(context, activity))
          if (step.status === 'running') await failLost(activity, step)
      return unfinished.map(({ id }) => id)
    },
  }
}
