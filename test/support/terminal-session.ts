import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCli } from '../cli/run-cli.js'
import { tempDir } from './temp.js'

/* Terminal sessions of the documentation: code blocks whose commands begin with `$ daybook`. */

const root = fileURLToPath(new URL('../..', import.meta.url))
const SESSION = /(?<=^```text\n)\$ daybook[^]*?(?=^```$)/gm

/** The words of a command line. Quotes hold words together. */
const wordsOf = (line: string): string[] =>
  Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain!)

/**
 * The text that a terminal finally shows. On a slow machine progress is drawn, and erased. Times differ in each run.
 */
const steady = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.split('\r\u001B[2K').at(-1)!)
    .join('\n')
    .replaceAll(/\b\d+(?:\.\d+)? m?s\b/g, '0.1 s')

/** Runs the commands of a session one after another, with their files in the folder. */
async function replay(session: string, dir: string): Promise<string> {
  const shown: string[] = []
  for (const [line] of session.matchAll(/^\$ daybook .*$/gm)) {
    const words = wordsOf(line.slice('$ daybook '.length))
    const args = words.map((word) =>
      /\.(?:db|ndjson|parquet)$/.test(word) ? `${dir}/${word}` : word,
    )
    const { exit, stdout, stderr } = await runCli(args, {
      terminal: { columns: 100 },
      env: { NO_COLOR: '1' },
    })
    const output = `${stdout}${stderr}`.replaceAll(`${dir}/`, '')
    shown.push(line, `${steady(output)}${exit === 0 ? '' : `[exit code ${exit}]\n`}`.trimEnd())
  }
  return `${shown.filter((part) => part !== '').join('\n')}\n`
}

/**
 * Returns the text with the current output of the commands of its sessions. Their folder has
 * `examples/command-line/shop.ndjson`.
 */
export async function recordSession(text: string): Promise<string> {
  const temp = tempDir()
  try {
    fs.copyFileSync(path.join(root, 'examples/command-line/shop.ndjson'), temp.file('shop.ndjson'))
    let recorded = text
    for (const [session] of text.matchAll(SESSION)) {
      const output = await replay(session, temp.dir)
      recorded = recorded.replace(session, () => output)
    }
    return recorded
  } finally {
    temp.remove()
  }
}
