import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tempDir } from '../support/temp.js'
import { runCli } from './run-cli.js'

/* The scripts run in the real shells. zsh and fish are tested where they are installed. */

const temp = tempDir()
const scriptOf = (shell: string): string => temp.file(`completion.${shell}`)

beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { exit, stdout } = await runCli(['completion', shell])
    expect(exit).toBe(0)
    fs.writeFileSync(scriptOf(shell), stdout)
  }
})
afterAll(() => temp.remove())

const isInstalled = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0

function completeInBash(line: string): string[] {
  const words = line.split(' ')
  const script = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _daybook; printf '%s\\n' "\${COMPREPLY[@]}"`
  const out = execFileSync('bash', ['-c', script, scriptOf('bash'), ...words], { encoding: 'utf8' })
  return out.split('\n').filter((word) => word !== '')
}

function completeInFish(line: string): string[] {
  const script = 'source $argv[1]; complete -C $argv[2]'
  const out = execFileSync('fish', ['--no-config', '-c', script, scriptOf('fish'), line], {
    encoding: 'utf8',
    env: { ...process.env, HOME: temp.dir },
  })
  const words = out.split('\n').map((row) => row.split('\t')[0]!)
  return words.filter((word) => word !== '')
}

describe.each([
  ['bash', completeInBash],
  ['fish', completeInFish],
])('completion in %s', (shell, complete) => {
  const test = it.skipIf(!isInstalled(shell))

  test.each([
    ['daybook exp', ['export']],
    ['daybook subscriptions re', ['redrive', 'replay', 'resume']],
    ['daybook export audit.db --format c', ['cloudevents', 'csv']],
    ['daybook tail audit.db --level w', ['warn']],
    ['daybook list audit.db --li', ['--limit']],
    ['daybook subscriptions pause audit.db --by', ['--by']],
    ['daybook completion ', ['bash', 'fish', 'zsh']],
  ])('%s', (line, words) => {
    expect(complete(line).toSorted()).toEqual(words)
  })

  test('offers all commands', () => {
    const words = complete('daybook ')
    expect(words).toEqual(expect.arrayContaining(['list', 'tail', 'subscriptions', 'completion']))
    expect(words).not.toContain('pause')
  })
})

describe('completion in zsh', () => {
  // The completion of zsh works in an interactive shell only.
  it.skipIf(!isInstalled('zsh'))('of a subcommand, of its option, and of a value', () => {
    const session = `
      zmodload zsh/zpty
      zpty z zsh -f -i
      zpty -w z 'PS1=; autoload -U compinit; compinit -u -D; source ${scriptOf('zsh')}; echo REA''DY'
      zpty -r z line '*READY*'
      zpty -w -n z $'daybook subscriptions repl\\t--fr\\t'
      zpty -r -m z line '*replay*--from*' && echo option
      zpty -w -n z $'\\x15daybook export audit.db --format clou\\t'
      zpty -r -m z line '*cloudevents*' && echo value`
    const out = execFileSync('zsh', ['-f', '-c', session], {
      encoding: 'utf8',
      env: { ...process.env, HOME: temp.dir },
      // zsh waits for text that may never come.
      timeout: 30_000,
    })
    expect(out).toBe('option\nvalue\n')
  })
})

it('another shell is refused, with the nearest name', async () => {
  const { exit, stdout, stderr } = await runCli(['completion', 'bsh'])
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
  expect(stderr).toContain('must be bash, zsh, fish; did you mean bash?')
})
