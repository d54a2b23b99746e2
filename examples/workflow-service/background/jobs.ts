import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Documents } from '../documents.js'
import { isFinished } from '../engine/transitions.js'
import type { Kind } from '../model.js'
import { failureData } from '../notes.js'
import type { Service } from '../service.js'

const CHECK_MS = 5000
const EVERY_MS = 60_000
const REQUEUE_PATIENCE_MS = 200

/** Histories that grow with use, and how many of each are kept. */
const KEPT: readonly (readonly [kind: Kind, count: number])[] = [
  ['template_versions', 100],
  ['settings_versions', 100],
  ['properties_versions', 100],
]

type Job = (service: Service) => Promise<void>

const JOBS: Readonly<Record<string, Job>> = {
  clean_workspace: async ({ documents, workspace }) => {
    for (const kind of ['changes', 'workflow_runs'] as const) {
      const directory = join(workspace, kind)
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
  const { documents, background } = service
  background.repeat(CHECK_MS, async () => {
    const now = new Date().toISOString()
    for (const [name, job] of Object.entries(JOBS)) {
      if ((documents.get('jobs', name)?.next_run_at ?? '') > now) continue
      await job(service).catch((error: unknown) => console.error(`job ${name} failed:`, error))
      await requeue(service, name)
    }
  })
}

async function requeue({ documents, note }: Service, name: string): Promise<void> {
  try {
    await putJob(documents, name)
  } catch (error) {
    await note('api:job:error', { name, ...failureData(error) })
  }
}

const putJob = (documents: Documents, id: string): Promise<void> =>
  documents.write(
    (tx) => tx.put('jobs', { id, next_run_at: new Date(Date.now() + EVERY_MS).toISOString() }),
    { patienceMs: REQUEUE_PATIENCE_MS },
  )
