import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RuleToolOutput } from '#contracts';
import { renderIndex, renderScope } from '#domain/rules';
import type { Caller } from '../access/caller.js';
import type { ReadingSession } from '../rules/reading-session.js';
import { RuleReader, type RuleRequest } from '../rules/rule-reader.js';
import { CurrentCaller } from './current-caller.js';
import { sendTagged } from './entity-tag.js';
import { invalidRequest } from './problem.js';
import { Reading } from './reading.js';
import { Input, Route, type InputOf } from './route.js';
import { routes } from './routes.js';

const JSON_TYPE = 'application/json; charset=utf-8';
const MARKDOWN_TYPE = 'text/markdown; charset=utf-8';

/** The four reads for agents. */
@Controller()
export class RulesController {
  constructor(@Inject(RuleReader) private readonly reader: RuleReader) {}

  @Route(routes.listRules)
  async list(
    @CurrentCaller() { project }: Caller,
    @Reading() reading: ReadingSession,
    @Input() { query }: InputOf<typeof routes.listRules>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { q, limit, format } = query;
    const asked = { project, ...reading };
    if (q !== undefined) {
      if (format === 'md') throw invalidRequest('query.format: what is found has no skill file; ask for it as JSON.');
      return this.send(request, reply, await this.read({ ...asked, tool: 'search', args: { query: q, limit } }));
    }
    if (limit !== undefined) throw invalidRequest('query.limit: it is for a search: give `q` too.');
    const answer = (await this.read({ ...asked, tool: 'list', args: {} })) as RuleToolOutput<'list'>;
    if (wantsMarkdown(request, format)) await sendTagged(request, reply, { type: MARKDOWN_TYPE, body: renderIndex(answer) });
    else await this.send(request, reply, answer);
  }

  @Route(routes.readRuleScope)
  async scope(
    @CurrentCaller() { project }: Caller,
    @Reading() reading: ReadingSession,
    @Input() { params, query }: InputOf<typeof routes.readRuleScope>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const asked: RuleRequest = { project, ...reading, tool: 'read', args: { scope: params.scope } };
    const answer = (await this.read(asked)) as RuleToolOutput<'read'>;
    if (wantsMarkdown(request, query.format))
      await sendTagged(request, reply, { type: MARKDOWN_TYPE, body: renderScope(answer) });
    else await this.send(request, reply, answer);
  }

  @Route(routes.readRuleStatus)
  async status(
    @CurrentCaller() { project }: Caller,
    @Reading() reading: ReadingSession,
    @Input() { params }: InputOf<typeof routes.readRuleStatus>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.send(request, reply, await this.read({ project, ...reading, tool: 'status', args: { rule_id: params.id } }));
  }

  private async read(request: RuleRequest): Promise<object> {
    const answer = await this.reader.answer(request);
    if (answer.ok) return answer.answer;
    throw invalidRequest(answer.error, [{ path: answer.path, message: answer.error }]);
  }

  private send(request: FastifyRequest, reply: FastifyReply, answer: object): Promise<void> {
    return sendTagged(request, reply, { type: JSON_TYPE, body: JSON.stringify(answer) });
  }
}

/** `?format=` decides; without it, the `Accept` header. */
function wantsMarkdown({ headers }: FastifyRequest, format: 'json' | 'md' | undefined): boolean {
  return format === undefined ? /\btext\/markdown\b/.test(headers.accept ?? '') : format === 'md';
}
