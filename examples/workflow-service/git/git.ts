import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const TIMEOUT_MS = 30_000

/**
 * Runs `git` with these arguments and returns its output, or throws {@link GitError}. `onProgress`
 * gets what it writes to stderr while it runs.
 */
export type Git = (
  args: readonly string[],
  onProgress?: (text: string) => void,
) => Promise<GitOutput>

export interface GitOutput {
  readonly stdout: string
  /** Includes progress messages. */
  readonly stderr: string
}

export class GitError extends Error {
  readonly output: string

  constructor(message: string, output: string) {
    super(message)
    this.output = output
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'

/** Allows only local repositories, and no prompts. */
const ENVIRONMENT = {
  ...process.env,
  GIT_ALLOW_PROTOCOL: 'file',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
}

/** Undefined where git is not installed. */
export async function findGit(signal: AbortSignal): Promise<Git | undefined> {
  const git: Git = async (args, onProgress) => {
    try {
      const running = run('git', args, { env: ENVIRONMENT, timeout: TIMEOUT_MS, signal })
      if (onProgress) running.child.stderr?.on('data', onProgress)
      return await running
    } catch (error) {
      if (isMissing(error) || signal.aborted) throw error
      const { stderr } = Object(error) as { stderr?: unknown }
      const output = typeof stderr === 'string' ? stderr.trim() : String(error)
      throw new GitError(reasonIn(output), output)
    }
  }
  try {
    await git(['--version'])
    return git
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const reasonIn = (output: string): string =>
  output.split('\n').find((line) => /^(fatal|error):/.test(line)) ?? output

/** Creates a small repository with one commit, which the simulated users fetch. */
export async function makeSampleRepository(git: Git, directory: string): Promise<void> {
  await git(['init', '--quiet', '--initial-branch=main', directory])
  await writeFile(join(directory, 'actions.rb'), "action 'deploy'\n")
  await git(['-C', directory, 'add', '.'])
  const author = ['-c', 'user.name=Workflow service', '-c', 'user.email=service@localhost']
  const unsigned = ['-c', 'commit.gpgSign=false']
  const commit = ['commit', '--quiet', '-m', 'Add actions']
  await git(['-C', directory, ...author, ...unsigned, ...commit])
}
