import{r as e,t}from"./chunk-QB3YPZ4I-XLmr5uBf.js";import"./chunk-TU62E6Q5-BiGcFiC7.js";import"./diagram-CO15uoUL.js";import"./chunk-HFQBQIA3-BrRBoLeY.js";import"./chunk-LEVMRMFU-OLvqoxo-.js";import"./chunk-AXFCVDMN-DjDHxUNM.js";import"./chunk-X4PVCEUW-B344lHlD.js";import"./chunk-STOXU5M4-C_7-wd9c.js";import"./chunk-R3KSYZAL-CGM4XLL3.js";import"./chunk-6MUBBAK2-DkgrhZfs.js";import"./chunk-BG4553SI-WRNLt6m-.js";import"./d3-selection-0IvC3OnK.js";import{n}from"./chunk-Y2CYZVJY-DsF7k-Jl.js";var r=t({styles:n(t=>`${e(t)}
  .swimlane.cluster:not([data-color-id]) rect {
    stroke: ${t.clusterBorder} !important;
  }
  [data-look="neo"].cluster rect {
    filter: none;
  }
`,`getStyles`)});export{r as diagram};