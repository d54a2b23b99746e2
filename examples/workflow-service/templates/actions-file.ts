/** Declarations in the file `actions.rb` of a template. */
export interface ActionsFile {
  readonly actions: readonly string[]
  /** Properties that assets need. */
  readonly requires: readonly string[]
  /** The instructions of the agent image; undefined if the template has none. */
  readonly agentImage: readonly string[] | undefined
  /** True if it reads the actions of the asset's model. */
  readonly readsModel: boolean
}

const STATEMENT = /^(action|requires|agent_image) '([^']*)'$/

/** Reads one statement a line. Throws a `SyntaxError` with the number of the line. */
export function readActionsFile(text: string): ActionsFile {
  const actions: string[] = []
  const requires: string[] = []
  let agentImage: readonly string[] | undefined
  let readsModel = false
  for (const [index, line] of text.split('\n').entries()) {
    const [, statement, value = ''] = STATEMENT.exec(line.trim()) ?? []
    if (statement === 'action') actions.push(value)
    else if (statement === 'requires') requires.push(value)
    else if (statement === 'agent_image') agentImage = value.split(/; */)
    else if (line.trim() === 'assetmodel_actions') readsModel = true
    else if (!/^\s*(#.*)?$/.test(line))
      throw new SyntaxError(`actions.rb:${index + 1}: unknown statement`)
  }
  return { actions, requires, agentImage, readsModel }
}
