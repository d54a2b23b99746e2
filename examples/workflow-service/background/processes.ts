import { recoverFetches } from '../git/fetch.js'
import type { Service } from '../service.js'
import { removeAbandonedWorkspaces } from '../workspace.js'

const REFRESH_MS = 250
const TAKE_OVER_MS = 2000

/** Has take effect here what users decide through other processes. */
export function startRefresh({ documents, background }: Service): void {
  let isAway = false
  background.repeat(REFRESH_MS, async () => {
    try {
      await documents.refresh()
      isAway = false
    } catch (error) {
      if (!isAway) console.error('the database cannot be read, for now:', error)
      isAway = true
    }
  })
}

/** Makes what ended processes left this one's, and gives the work that is to go on. */
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
  const { background } = service
  background.repeat(TAKE_OVER_MS, async () => {
    for (const work of await takeOver(service)) background.run(work)
  })
}
