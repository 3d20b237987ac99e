package memory

import (
	"regexp"
	"strings"
	"sync"
)

// What a conversation may not leave behind, whatever a model calls it. A refusal costs a fact that a person can write
// down himself; a permission or another's data that is kept costs more, so the rules rather refuse too much.
const (
	isPermission = "a permission, or what one may do unasked"
	isOnce       = "an order or a state of one task"
	isOrder      = "an order, which nobody said is for more than this task"
	isSecret     = "a secret, or a number that is one" //nolint:gosec // which it only names
	isOthers     = "personal data of somebody who is not the user"
	isInjected   = "an instruction to the model"
)

// wording is a pattern that is compiled when it is first used: to compile all of them took a third of the program's
// init.
type wording func() *regexp.Regexp

func anyOf(parts ...string) wording {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)` + strings.Join(parts, "|")) })
}

// MatchString reports whether the text has one of them.
func (w wording) MatchString(text string) bool { return w().MatchString(text) }

const (
	english = `\b(?:`
	end     = `)\b`
	actions = `run|runs|running|execut\w*|delet\w*|remov\w*|send\w*|access\w*|use|uses|using|command\w*|bash|shell|` +
		`tools?|deploy\w*|push\w*|writ\w*|read\w*|` +
		`edit\w*|modif\w*|install\w*|buy\w*|purchas\w*|pay\w*|transfer\w*|download\w*|upload\w*|merg\w*|commit\w*|` +
		`assistant|agents?|everything|anything|calls?|requests?`
	whoever = `assistant|agents?|pudu|ai|bot|model|tools?|you`
	allows  = `allow\w*|permit\w*|permission\w*|authori[sz]\w*|approv\w*|pre-?approv\w*|consent\w*|grant\w*|entitle\w*`
)

var (
	permission = anyOf(
		english+`never|no need to|needn't|without|don'?t|do not|does not|doesn't|need not|stop|skip\w*|no|not`+end+
			`.{0,30}`+
			english+`ask\w*|confirm\w*|approv\w*|permission|prompt\w* (?:me|him|her|them|the user)|check(?:ing)? with`+
			end,
		english+`always|automatic\w*|pre-?|every|all|any`+end+`.{0,30}`+english+
			`approv\w*|accept\w*|allow\w*|permit\w*|confirmed|pre-?approved`+end,
		english+`automatic\w*|unattended|unsupervised|unprompted`+end+`.{0,20}`+english+actions+end+`|`+english+actions+
			end+`.{0,20}`+english+`automatically|unattended|unsupervised|unprompted`+end,
		english+`lets?|letting|gave|gives?|given`+end+`.{0,12}`+english+`assistant|agents?|pudu|ai|bot|model|you`+end,
		english+`pre-?approved`+end,
		english+whoever+end+`.{0,25}`+
			english+`may|can|(?:is|are) (?:free|allowed|permitted|authori[sz]ed|trusted)|(?:has|have) (?:full |`+
			`standing |blanket )?(?:permission|access|authority|consent|approval)|free to`+end,
		english+allows+end+`.{0,60}`+english+actions+end,
		english+actions+end+`.{0,40}`+english+
			`(?:is|are|was|were) (?:always |now )?(?:allowed|permitted|approved|authori[sz]ed|fine|ok|okay)`+end,
		english+`(?:full|root|admin|administrator|unrestricted|blanket|standing) (?:access|rights|permissions?|`+
			`approval|consent)|auto-?(?:approv\w*|accept\w*|confirm\w*|run\w*)|sudo|(?:say|answer|click) yes to|`+
			`trust(?:s|ed)? (?:the |this |all )?(?:`+whoever+`)`+end,
		`(?:允许|准许|授权|许可|批准|放行|特许|获准)`, `同意(?:你|助手|它|执行|运行|删除|使用|所有|一切)`,
		`(?:无需|不用|不必|不需要|无须|不再|别|不要|从不|省略|跳过)(?:再|再次|每次)?(?:向?我)?(?:询问|问|确认|征求|请示|审批|批准|提示)`,
		`(?:你|助手|代理|模型|工具)(?:可以|能|有权|得以)`, `(?:可以|能)(?:直接|随意|自由|随时)(?:执行|运行|删除|使用|修改|发送|访问|提交|部署|安装)`,
		`自动(?:批准|执行|确认|同意|通过|运行|删除|发送|提交|部署|合并|安装)`, `(?:授予|赋予|给予)(?:了)?(?:你|助手|代理|模型|它)`,
		`(?:全部|完全|管理员|最高|root|所有)的?(?:权限|授权)`, `(?:总是|一律|永远|都)(?:批准|同意|允许|通过|确认)`,
	)
	// mild has what may be a permission: a person is asked.
	mild = anyOf(english+allows+`|trusts?|access rights?|clearance`+end, `权限|审批|信任|准许`)

	once = anyOf(
		english+
			`this (?:time|once|one|task|run|report|file|files|conversation|chat|session|thread|message|pr|pull `+
			`request|commit|branch|change|page|`+
			`document|question|answer|request|ticket|release|sprint|week|weekend|month|afternoon|morning|evening|`+
			`email|deck|script|figure|table)|`+
			`just (?:this )?once|only (?:this )?once|one-?(?:time|off)|for (?:now|the moment|today|the time being)|`+
			`right now|at the moment|temporar\w+|today|tonight|tomorrow|`+
			`until (?:tomorrow|then|i|we|further|next|the|it)|by (?:monday|tuesday|wednesday|thursday|friday|`+
			`saturday|sunday|noon|tonight)|in the meantime|next (?:step|message|answer|hour)|the (?:attached|`+
			`uploaded|following|above) \w+|`+
			`(?:attached|uploaded) (?:file|document|report|image)\w*`+end,
		`这次|这一次|本次|这回|仅此|只此|一次性|暂时|临时|今天|今晚|明天|后天|现在先|先别|先不要|目前先|眼下|这个?(?:任务|文件|报告|PR|分支|会话|对话|问题|请求|页面|文档|脚本|表格|版本)|`+
			`这[份篇张封]|本(?:任务|会话|对话|PR|文件|报告)|刚才|刚刚|上面的?|下面的?|附件|这周|本周|这个月|本月|上传的`,
	)
	lasting = anyOf(
		english+`always|never|from now on|every ?time|whenever|in general|generally|usually|by default|prefer\w*|in `+
			`(?:the )?future|going forward|each time|as a rule|`+
			`i (?:really )?(?:like|love|hate|dislike|use|work|live|am|have|speak|write|own|run|study|teach|moved|`+
			`decided|want to (?:learn|become))|i'?m|i'?ve|my|we (?:use|are|have|work)|our|call me|remember|note that|`+
			`keep in mind|all my`+end,
		`总是|一直|始终|永远|从不|以后|今后|从现在|每次|每当|默认|通常|一般|平时|习惯|喜欢|偏好|倾向|讨厌|我[是叫在用有住会写学教不的]|我们|咱们|记住|叫我|称呼我`,
	)
	commands = anyOf(
		`^(?:(?:please|pls|kindly|now|then|and|also|but|ok|okay|so|first|next|just|hey|hi|pudu)[ ,]+)*(?:(?:could|`+
			`can|would|will) you|let'?s|don'?t|do not|never mind|i (?:want|need|would like|'d like) (?:you )?to|`+
			`(?:add|analy[sz]e|answer|apply|attach|begin|book|build|buy|calculate|call|change|check|clean|click|`+
			`close|commit|compare|compress|compute|convert|copy|correct|create|cut|debug|delete|deploy|describe|`+
			`do|download|draft|draw|drop|edit|email|ensure|execute|explain|export|extract|fetch|fill|find|finish|fix|`+
			`follow|format|generate|get|give|go|go on|help|ignore|import|include|insert|install|keep|leave|limit|`+
			`list|load|look|`+
			`mail|make|mark|merge|modify|move|name|note|open|order|organi[sz]e|outline|pay|pick|plan|plot|post|`+
			`prepare|print|publish|push|put|read|rebase|refactor|release|remind|remove|rename|render|repeat|replace|`+
			`reply|report|`+
			`research|reset|restart|return|review|revert|rewrite|run|save|scan|schedule|search|send|set|shorten|show|`+
			`sign|simplify|skip|solve|sort|split|start|stop|submit|suggest|summari[sz]e|sum|switch|tell|test|transfer|`+
			`translate|try|turn|undo|update|upgrade|upload|use|validate|verify|wait|watch|write)\b)`,
		`^(?:请|麻烦|帮|给我|把|将|别|不要|勿|先|再|然后|现在|接着|你(?:帮|来|去|把|先|再))`, `能不能|能否|可否|可以帮|要求你`,
	)
	ordered = anyOf(
		english+`(?:asked|asks|requested|requests|instructed|told|ordered|wants|wanted|needs|would like)(?: for| `+
			`that| the (?:assistant|agent|ai|model)| pudu| me| you| us)?`+end+`.{0,20}\bto\b`,
		`\bthe (?:assistant|agent|ai|model) (?:must|should|shall|is to|needs to|has to|will|ought)\b`,
		`(?:requested|asked) (?:that|for)\b`, `(?:要求|请求|让|命令|指示|嘱咐|吩咐)(?:了)?(?:助手|你|AI|模型|代理|系统)?`,
	)

	secretWords = anyOf(
		english+`passwords?|passwd|passphrases?|passcodes?|api[ _-]?keys?|secret keys?|private keys?|access tokens?|`+
			`bearer tokens?|pin(?: code)?|cvv|cvc|credit card|card number|bank account|account number|iban|ssn|`+
			`social security|passport(?: number)?|driving licen[cs]e number|one-time code|2fa|recovery codes?|seed `+
			`phrase|credentials?|(?:door|gate|alarm|entry|access|unlock) codes?`+end,
		`\bsk-[A-Za-z0-9_-]{8,}|\bgh[pousr]_\w{16,}|\bAKIA[0-9A-Z]{12,}|\bxox[abps]-[\w-]{8,}|\beyJ[\w-]{10,}|`+
			`-----BEGIN|(?:\b|\D)(?:\d[ -]?){12,19}(?:\b|\D)`,
		`密码|口令|密钥|令牌|验证码|身份证|护照号|银行卡|信用卡|卡号|银行账[号户]|社保号|私钥|助记词|凭证|门禁码|开门密`,
	)
	// harmless is what only looks like a secret, or like a permission.
	harmless = regexp.MustCompile(`(?i)password managers?|passport control|密码管理器|密码学|\byou (?:can|may) (?:call|` +
		`address|reach|find|write to) me\b|你?(?:可以|能)(?:叫|称呼|联系)我`)

	personal = anyOf(
		english+`phone|mobile|telephone|cell|e-?mails?|address|salary|wages?|income|earns?|earning|debts?|owes?|`+
			`diagnos\w*|disease|ill|illness|sick|cancer|diabet\w*|depress\w*|anxiety|hiv|pregnan\w*|medication|`+
			`therapy|disab\w*|religio\w*|muslim|christian|catholic|jew|jewish|hindu|atheist|gay|lesbian|homosexual|`+
			`bisexual|transgender|votes?|voted|arrest\w*|convict\w*|criminal|jail|prison|divorc\w*|affair|`+
			`birthday|born|date of birth|lives? (?:at|in|on)|home address|weighs?|fired|laid off|bankrupt\w*|drinks? `+
			`too much|addict\w*|adhd|autis\w*|asthma\w*|dement\w*|surgery|hospital\w*|medical\w*|allerg\w*|`+
			`nationality|visa status`+end,
		`电话|手机号?|邮箱|住址|地址|工资|薪水|薪资|年薪|月薪|收入|负债|欠债|欠款|确诊|生病|疾病|患|癌|糖尿病|抑郁|怀孕|吃药|宗教|信仰|同性恋|离婚|出轨|生日|出生|被捕|犯罪|坐牢|住在|体重|`+
			`被开除|被解雇|过敏|国籍`,
	)
	somebody = anyOf(
		english+`(?:colleague|coworker|co-worker|boss|manager|employee|intern|client|customer|supplier|neighbou?r|`+
			`friend|girlfriend|boyfriend|wife|husband|spouse|partner|son|daughter|child|children|kids?|mother|father|`+
			`mom|mum|dad|`+
			`parents?|brother|sister|uncle|aunt|cousin|landlord|tenant|patient|student|teacher|candidate|applicant|`+
			`doctor|lawyer)(?:'s|s|s')?`+end,
		`同事|老板|经理|员工|实习生|客户|供应商|邻居|朋友|女友|男友|女朋友|男朋友|妻子|老婆|丈夫|老公|儿子|女儿|孩子|母亲|父亲|妈妈|爸爸|父母|哥哥|弟弟|姐姐|妹妹|房东|病人|患者|学生|老师|`+
			`候选人|他|她`,
	)
	pronoun = regexp.MustCompile(`(?i)\b(?:he|she|his|her|hers|him)\b`)
	self    = anyOf(english+`i|i'?m|i'?ve|my|me|mine|we|our|us`+end, `我|咱|本人`)
	contact = regexp.MustCompile(`[\w.+-]+@[\w-]+\.\w+|\+?\d[\d ()-]{7,}\d`)

	injected = anyOf(
		english+`ignore|disregard|forget|override|bypass`+end+`.{0,40}`+english+
			`previous|prior|above|all|any|earlier|instructions?|rules|guidelines|system|polic(?:y|ies)|safety`+end,
		english+`(?:reveal|print|show|repeat|output|disclose)`+end+`.{0,25}`+english+`prompt|instructions|rules`+end,
		english+`system prompt|jailbreak|developer mode|hidden instructions?|new instructions?`+end,
		`\byou (?:must|are now|have to|shall|will now)\b`,
		english+`send|post|upload|forward|exfiltrate|leak|report|copy|bcc|cc`+end+
			`.{0,60}(?:https?://|[\w.+-]+@[\w-]+\.\w+)`,
		`<\s*/?\s*(?:system|memory|instruction|tool|assistant|user|important|override)[^>]*>|BEGIN USER INPUT|END `+
			`USER INPUT`,
		`(?:忽略|无视|忘记|绕过)(?:之前|以上|所有|前面|上述|一切|先前|任何)|系统提示|你(?:必须|现在是|现在起)|(?:发送|上传|转发|抄送)(?:到|给|至)?\s*(?:https?|`+
			`[\w.+-]+@)`,
	)
)

// forbidden says why a fact may not be kept that was learned from a quotation in a sentence; empty if it may.
func forbidden(content, quote, sentence string) string {
	if why := poison(content + "\n" + clauseOf(sentence, quote)); why != "" {
		return why
	}
	lasts := lasting.MatchString(sentence)
	switch {
	case once.MatchString(content), once.MatchString(sentence) && !lasts:
		return isOnce
	case (commands.MatchString(strings.TrimSpace(sentence)) || ordered.MatchString(content)) && !lasts:
		return isOrder
	}
	me := self.MatchString(sentence)
	told := ofUser.ReplaceAllString(content, " ")
	data := personal.MatchString(told) || contact.MatchString(told)
	if data && (!me || somebody.MatchString(told) || pronoun.MatchString(sentence)) {
		return isOthers
	}
	return ""
}

// ofUser is how facts name the user.
var ofUser = regexp.MustCompile(`(?i)\b(?:the )?user(?:'s)?\b|用户的?`)

// poison says what no text that is told to a model may hold.
func poison(text string) string {
	text = harmless.ReplaceAllString(text, " ")
	switch {
	case injected.MatchString(text):
		return isInjected
	case secretWords.MatchString(text):
		return isSecret
	case permission.MatchString(text):
		return isPermission
	}
	return ""
}
