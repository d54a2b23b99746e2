import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const AUTHOR = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgSign=false']

export const git = async (directory: string, ...args: readonly string[]): Promise<string> =>
  (await run('git', ['-C', directory, ...AUTHOR, ...args])).stdout.trim()

/** Creates a bare repository, and `<directory>.work`, where {@link commitFile} commits. */
export async function createRepository(directory: string): Promise<void> {
  await run('git', ['init', '-q', '--bare', '-b', 'main', directory])
  await run('git', ['init', '-q', '-b', 'main', `${directory}.work`])
}

/** Commits and pushes a file. Returns the SHA of the commit. */
export async function commitFile(
  directory: string,
  path: string,
  content: string,
  push = true,
): Promise<string> {
  const work = `${directory}.work`
  const file = join(work, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
  await git(work, 'add', '.')
  await git(work, 'commit', '-q', '-m', path)
  if (push) await git(work, 'push', '-q', directory, 'main')
  return git(work, 'rev-parse', 'HEAD')
}
