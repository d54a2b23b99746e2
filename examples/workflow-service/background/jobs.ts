import { readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isFinished } from '../engine/transitions.js'
import type { Kind } from '../model.js'
import { failureData } from '../notes.js'
import type { Service } from '../service.js'
import { workspacesHere } from '../workspace.js'

const CHECK_MS = 5000
const EVERY_MS = 60_000
const QUEUE_PATIENCE_MS = 200

/** Histories that grow with use, and how many of each are kept. */
const KEPT: readonly (readonly [kind: Kind, count: number])[] = [
  ['template_versions', 100],
  ['settings_versions', 100],
  ['properties_versions', 100],
]

type Job = (service: Service) => Promise<void>

/** Once for all processes, except that each machine has a workspace job of its own. */
const JOBS: Readonly<Record<string, Job>> = {
  [`clean_workspace on ${hostname()}`]: async ({ documents }) => {
    for (const workspace of workspacesHere(documents))
      for (const kind of ['changes', 'workflow_runs'] as const) {
        const directory = join(workspace.id, kind)
        for (const id of await readdir(directory)) {
          const activity = documents.get(kind, id)
          if (!activity || isFinished(activity.status))
            await rm(join(directory, id), { recursive: true, force: true })
        }
      }
  },
  trim_histories: ({ documents }) =>
    documents.write((tx) => {
      for (const [kind, count] of KEPT)
        for (const { id } of documents.all(kind).slice(0, -count)) tx.remove(kind, id)
    }),
}

/** Runs the recurring jobs. When each is due next is kept with the data of the service. */
export function startJobs(service: Service): void {
  service.background.repeat(CHECK_MS, async () => {
    for (const [name, job] of Object.entries(JOBS))
      if (await queueAgain(service, name))
        await job(service).catch((error: unknown) => console.error(`job ${name} failed:`, error))
  })
}

/** Whether the job is due; then it is this process's, and due again later. */
async function queueAgain({ documents, note }: Service, id: string): Promise<boolean> {
  const isDue = (): boolean =>
    (documents.get('jobs', id)?.next_run_at ?? '') <= new Date().toISOString()
  if (!isDue()) return false
  try {
    return await documents.write(
      (tx) => {
        if (!isDue()) return false
        tx.put('jobs', { id, next_run_at: new Date(Date.now() + EVERY_MS).toISOString() })
        return true
      },
      { patienceMs: QUEUE_PATIENCE_MS },
    )
  } catch (error) {
    await note('api:job:error', { name: id, ...failureData(error) })
    return false
  }
}
