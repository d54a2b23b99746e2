import { recoverFetches } from '../git/fetch.js'
import type { Service } from '../service.js'
import { removeAbandonedWorkspaces } from '../workspace.js'

/** Loads what other processes have written, so that it takes effect in this process. */
export function startRefresh({ documents, background, timings }: Service): void {
  let isUnavailable = false
  background.repeat(timings.refresh, async () => {
    try {
      await documents.refresh()
      isUnavailable = false
    } catch (error) {
      if (!isUnavailable) console.error('the database cannot be read at the moment:', error)
      isUnavailable = true
    }
  })
}

/** Takes over the work of ended processes; returns the tasks to run. */
export async function takeOver(service: Service): Promise<readonly (() => Promise<void>)[]> {
  const { documents, changes, workflowRuns } = service
  const work: (() => Promise<void>)[] = []
  for (const engine of [changes, workflowRuns])
    for (const id of await engine.recover()) work.push(() => engine.run(id))
  await recoverFetches(service)
  await removeAbandonedWorkspaces(documents)
  return work
}

export function startTakeOver(service: Service): void {
  const { background, timings } = service
  background.repeat(timings.takeOver, async () => {
    for (const work of await takeOver(service)) background.run(work)
  })
}
