import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Documents } from './documents.js'

/** Makes the directory for files of steps and fetches, and removes what a killed process left. */
export async function openWorkspace(documents: Documents): Promise<string> {
  for (const { id } of documents.all('workspaces')) await removeWorkspace(documents, id)
  const directory = await mkdtemp(join(tmpdir(), 'daybook-service-'))
  await documents.write((tx) => tx.put('workspaces', { id: directory }))
  return directory
}

export async function removeWorkspace(documents: Documents, directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await documents.write((tx) => tx.remove('workspaces', directory))
}
