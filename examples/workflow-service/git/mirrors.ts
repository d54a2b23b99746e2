import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { GitRemote } from '../model.js'
import { failureData } from '../notes.js'
import type { Service } from '../service.js'
import type { Git } from './git.js'

/** The service's copies of Git remotes. */
export interface Mirrors {
  /** Fetches the remote; returns the directory of the copy. */
  refresh(remote: GitRemote): Promise<string>
  /** The copy for a step. If the remote cannot be fetched, an event says so and the old copy is used. */
  mount(remoteId: string, username: string | null): Promise<string>
  /** Clones the copy of a remote into a directory. */
  clone(directory: string, target: string): Promise<void>
}

export function createMirrors(
  { documents, note }: Pick<Service, 'documents' | 'note'>,
  git: Git,
  workspace: string,
): Mirrors {
  const directoryOf = ({ id }: GitRemote): string => join(workspace, 'mirrors', id)
  const running = new Map<string, Promise<void>>()

  const fetchRemote = async (remote: GitRemote): Promise<void> => {
    const directory = directoryOf(remote)
    if (existsSync(directory)) {
      await git(['-C', directory, 'remote', 'set-url', 'origin', remote.url])
      await git(['-C', directory, 'fetch', '--quiet', '--prune'])
    } else await git(['clone', '--quiet', '--mirror', '--', remote.url, directory])
  }

  /** Git cannot fetch twice into a directory at once. */
  const refresh = async (remote: GitRemote): Promise<string> => {
    const before = running.get(remote.id)?.catch(() => {})
    const fetched = Promise.resolve(before).then(() => fetchRemote(remote))
    running.set(remote.id, fetched)
    await fetched
    return directoryOf(remote)
  }

  return {
    refresh,
    async mount(remoteId, username) {
      const remote = documents.get('git_remotes', remoteId)
      if (!remote) throw new Error('the Git remote was removed')
      try {
        return await refresh(remote)
      } catch (error) {
        const facts = { name: remote.name, git_remote_id: remoteId, ...failureData(error) }
        await note('warn:git_remote:mountable_fetch_failed', facts, username)
        return directoryOf(remote)
      }
    },
    async clone(directory, target) {
      await git(['clone', '--quiet', '--no-local', '--', directory, target])
    },
  }
}
