import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Documents } from './documents/documents.js'
import { isFinished } from './engine/transitions.js'
import type { Workspace } from './model.js'
import { findAbandoned } from './owners.js'

/** The directories of this machine's processes. */
export const workspacesHere = (documents: Documents): readonly Workspace[] =>
  documents.all('workspaces').filter(({ host }) => host === hostname())

/** Creates the directory for the files of steps and fetches. */
export async function openWorkspace(documents: Documents): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'daybook-service-'))
  const workspace = { id: directory, owner: documents.processId, host: hostname() }
  await documents.write((tx) => tx.put('workspaces', workspace))
  return directory
}

/** Moves the files that another process left at this path of its directory, if there are any. */
export async function takeFiles(
  documents: Documents,
  owner: string | null,
  path: string,
  target: string,
): Promise<void> {
  const workspace = workspacesHere(documents).find((one) => one.owner === owner)
  // Without its files, a step fails and says so.
  if (workspace) await rename(join(workspace.id, path), target).catch(() => undefined)
}

/** Removes the directories of processes that were killed, once nothing in them is needed. */
export async function removeAbandonedWorkspaces(documents: Documents): Promise<void> {
  for (const { id } of await findAbandoned(documents, workspacesHere(documents)))
    if (!(await hasFilesToTake(documents, id))) await removeWorkspace(documents, id)
}

/** True until the process that has taken over an unfinished activity has also moved its files. */
async function hasFilesToTake(documents: Documents, directory: string): Promise<boolean> {
  for (const kind of ['changes', 'workflow_runs'] as const)
    for (const id of await readdir(join(directory, kind)).catch(() => [])) {
      const activity = documents.get(kind, id)
      if (activity && !isFinished(activity.status)) return true
    }
  return false
}

export async function removeWorkspace(documents: Documents, directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await documents.write((tx) => tx.remove('workspaces', directory))
}
