import { randomUUID } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isFinished } from '../engine/transitions.js'
import type { Kind } from '../model.js'
import { failureData } from '../notes.js'
import type { Service } from '../service.js'
import { workspacesHere } from '../workspace.js'

/** Version histories, and how many entries of each are kept. */
const KEPT: readonly (readonly [kind: Kind, count: number])[] = [
  ['template_versions', 100],
  ['settings_versions', 100],
  ['properties_versions', 100],
  ['step_logs', 500],
]

type Job = (service: Service) => Promise<void>

/** Each job runs in one process at a time; the workspace job in one process of each machine. */
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
  reconcile_registry: ({ images }) => images.reconcile(),
  warm_runner_base_image: ({ images }) => images.warm(),
  trim_histories: ({ documents }) =>
    documents.write((tx) => {
      for (const [kind, count] of KEPT)
        for (const { id } of documents.all(kind).slice(0, -count)) tx.remove(kind, id)
    }),
}

/** Runs the recurring jobs. Their next run times are part of the service's data. */
export function startJobs(service: Service): void {
  service.background.repeat(service.timings.jobCheck, async () => {
    for (const [name, job] of Object.entries(JOBS))
      if (await claimJob(service, name)) await runJob(service, name, job)
  })
}

async function runJob(service: Service, name: string, job: Job): Promise<void> {
  try {
    await job(service)
    const run = { id: randomUUID(), name, finished_at: new Date().toISOString() }
    await service.documents.write((tx) => tx.put('job_runs', run))
  } catch (error) {
    console.error(`job ${name} failed:`, error)
  }
}

/** Returns true if the job is due and this process has claimed it. */
async function claimJob({ documents, note, timings }: Service, id: string): Promise<boolean> {
  const isDue = (): boolean =>
    (documents.get('jobs', id)?.next_run_at ?? '') <= new Date().toISOString()
  if (!isDue()) return false
  try {
    return await documents.write(
      (tx) => {
        if (!isDue()) return false
        tx.put('jobs', {
          id,
          next_run_at: new Date(Date.now() + timings.jobInterval).toISOString(),
        })
        return true
      },
      { timeoutMs: timings.jobClaim },
    )
  } catch (error) {
    await note('api:job:error', { name: id, ...failureData(error) })
    return false
  }
}
