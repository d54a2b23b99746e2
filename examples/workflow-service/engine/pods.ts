import { type Child, scriptOf } from '../children/child.js'
import type { Activity } from '../model.js'
import { failureData } from '../notes.js'
import type { Service } from '../service.js'
import { activityFacts } from './context.js'
import { CHANGES } from './names.js'

/** Runner pods: one process for each change that needs one. */
export interface Pods {
  /** Works in the pod of the change, which is started at the first use. */
  run(changeId: string, ms: number, isStubborn: boolean, signal: AbortSignal): Promise<void>
  /** Removes the pod of a change that has ended. */
  remove(change: Activity): Promise<void>
  /** Ends the work of a change that a user has cancelled. */
  cancel(change: Activity): Promise<void>
}

/** The setting `runner_grace_ms` is how long pods have to stop. */
export function createPods(service: Pick<Service, 'children' | 'note' | 'settings'>): Pods {
  const { children, note, settings } = service
  const pods = new Map<string, Promise<Child>>()
  const grace = (): number => settings.number('runner_grace_ms', 2000)

  const remove = async (change: Activity, graceMs: () => number): Promise<void> => {
    const pod = pods.get(change.id)
    if (!pod) return
    try {
      if (!(await (await pod).stop(graceMs()))) throw new Error('the runner pod does not stop')
      pods.delete(change.id)
    } catch (error) {
      const facts = activityFacts(CHANGES, change)
      await note('error:change_worker:delete', { ...facts, ...failureData(error) })
    }
  }

  return {
    async run(changeId, ms, isStubborn, signal) {
      const args = isStubborn ? ['stubborn'] : []
      const started = pods.get(changeId) ?? children.start(scriptOf('runner-pod'), args)
      pods.set(changeId, started)
      const pod = await started
      signal.throwIfAborted()
      const aborted = new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      )
      await Promise.race([pod.call('run', ms), aborted])
    },
    remove: (change) => remove(change, grace),
    async cancel(change) {
      if (!pods.has(change.id)) return
      try {
        const graceMs = grace()
        await remove(change, () => graceMs)
      } catch (error) {
        const facts = activityFacts(CHANGES, change)
        await note('api:change_listener:error', { ...facts, ...failureData(error) })
      }
    },
  }
}
