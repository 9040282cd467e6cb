import { describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import { ruleTools, type RuleTool } from '../../contracts/src/rule-tools.js';
import { preamble } from '../../domain/src/rules/preamble.js';
import { connect } from './connect.js';
import { toolDeclarations } from './tool-declarations.js';

describe('the tools', () => {
  it.each(Object.keys(ruleTools) as RuleTool[])('%s is declared as in the contract', (tool) => {
    const { name, description, input } = ruleTools[tool];
    const { $schema: _, ...parameters } = z.toJSONSchema(input, { io: 'input' });
    expect(toolDeclarations[tool]).toEqual({ name, description, parameters });
  });

  it('come in the forms of the model APIs', () => {
    const { tools } = connect({ http: 'http://127.0.0.1:1' });
    const { name, description, parameters } = toolDeclarations.search;
    expect(tools.openai()).toHaveLength(4);
    expect(tools.openai()[2]).toEqual({ type: 'function', function: { name, description, parameters } });
    expect(tools.anthropic()[2]).toEqual({ name, description, input_schema: parameters });
    expect(tools.plain()[2]).toEqual({ name, description, parameters, handler: expect.any(Function) });
  });
});

it('the preamble is the one text that every session is given', () => {
  const client = connect({ http: 'http://127.0.0.1:1' });
  expect(client.session('a').preamble()).toBe(preamble());
  expect(client.session('b').atTurn(3).preamble()).toBe(preamble());
});

it('loads neither zod nor a framework', async () => {
  jest.resetModules();
  for (const name of ['zod', '@nestjs/common', 'typeorm'])
    jest.unstable_mockModule(name, () => {
      throw new Error(`${name} was loaded`);
    });
  await expect(import('zod')).rejects.toThrow('zod was loaded');
  await expect(import('./index.js')).resolves.toHaveProperty('connect');
});
